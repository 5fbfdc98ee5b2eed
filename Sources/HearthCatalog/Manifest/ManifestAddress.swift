import Foundation
import HearthBase
import HearthHTTP

/// The rules for addresses in a manifest: `https` to any host; `http` to this machine only in a manifest from this
/// machine; `file:` only in a local manifest. Relative addresses start at the manifest's own.
extension ManifestReader {
    /// The address in a field, made absolute.
    package func address(_ field: String) throws(CatalogError) -> URL? {
        guard let value = value(field) else { return nil }
        guard case .string(let text) = value else { throw malformed(field, expected: "an address", found: value.kind) }
        return try address(text, field)
    }

    /// The addresses in a list.
    package func addresses(_ field: String) throws(CatalogError) -> [URL] {
        var addresses: [URL] = []
        for (index, item) in (try list(field) ?? []).enumerated() {
            let place = "\(field)[\(index)]"
            guard case .string(let text) = item else {
                throw malformed(place, expected: "an address", found: item.kind)
            }
            addresses.append(try address(text, place))
        }
        return addresses
    }

    private func address(_ text: String, _ field: String) throws(CatalogError) -> URL {
        func refused(_ expected: String) -> CatalogError {
            malformed(field, expected: expected, found: text.quoted)
        }
        guard !text.unicodeScalars.contains(where: { $0.properties.generalCategory == .control || $0 == "\\" }) else {
            throw refused("an address without control characters and backslashes")
        }
        guard (1...8192).contains(text.utf8.count), let url = URL(address: text, relativeTo: manifest),
            !["", "/"].contains(url.path(percentEncoded: true))
        else { throw refused("an address") }
        if let written = URL(address: text), written.user() != nil || written.password() != nil {
            throw refused("an address without user name and password")
        }
        switch url.scheme?.lowercased() {
        case "https" where url.host?.isEmpty == false: return url
        case "http" where url.isLoopback && (manifest.isFileURL || manifest.isLoopback): return url
        case "file" where manifest.isFileURL && (url.host ?? "").isEmpty: return url
        case "http" where url.isLoopback: throw refused("an https address, as the manifest's own")
        case "file": throw refused("an address on the network, as the manifest's own")
        default: throw refused("an https address")
        }
    }
}
