import Foundation

@testable import HearthCatalog
@testable import HearthHTTP

/// Addresses that others wrote, alone and in a document.
func fuzzAddress(_ data: Data) {
    let text = String(decoding: data.prefix(4096), as: UTF8.self)
    for base in [nil, URL(string: "https://h.example/a/b?c#d")] {
        guard let url = URL(address: text, relativeTo: base) else { continue }
        let read = url.absoluteString
        precondition(read.utf8.allSatisfy { (0x21...0x7E).contains($0) }, "a byte that no address has came through")
        precondition(URL(address: read)?.absoluteString == read, "an address is read in two ways")
        precondition(!url.fileName.contains("/"), "a file's name is a path")
    }
}

/// Names of models in any script.
func fuzzWrittenName(_ data: Data) {
    guard let name = WrittenName(String(decoding: data, as: UTF8.self)) else { return }
    precondition(Family(name.family.name) == name.family, "a family that is none came through")
    precondition(WrittenName(name.family.name)?.family == name.family, "a family's own name makes another family")
    precondition(name.clash(among: [name.text]) == nil, "a name clashes with itself")
}
