import Foundation

extension URL {
    /// Makes an address of the text that a person, a manifest or a server wrote. Everything that the package asks for
    /// passes here: origins, references, addresses in manifests, mirrors, redirects.
    ///
    /// Bytes that RFC 3986 does not allow are encoded once; triplets and everything else stay as written.
    /// `URL(string:)` encodes every triplet again as soon as one other byte needs encoding.
    ///
    /// ```swift
    /// URL(address: "a%2Fb c.gguf", relativeTo: manifest)   // https://host/folder/a%2Fb%20c.gguf
    /// ```
    /// - Parameter base: the document that contains the address; relative addresses start there.
    /// - Returns: `nil` for a text with control characters or backslashes, an impossible host or port, and an empty text
    ///   without a base.
    package init?(address text: some StringProtocol, relativeTo base: URL? = nil) {
        guard var address = AddressText(text) else { return nil }
        if let base {
            guard let start = AddressText(base.absoluteString) else { return nil }
            address = address.resolved(against: start)
        }
        self.init(string: address.text, encodingInvalidCharacters: false)
    }

    /// The address of a file in the same folder; `.` is the folder itself.
    package func beside(_ name: String) -> URL {
        URL(address: name, relativeTo: self) ?? deletingLastPathComponent().appending(path: name)
    }

    /// The address of a path below this one; user, host and query stay.
    package func below(_ path: String) -> URL {
        guard var address = AddressText(absoluteString) else { return appending(path: path) }
        address.path += (address.path.hasSuffix("/") ? "" : "/") + AddressBytes.path.encoded(Array(path.utf8)[...])
        return URL(string: address.text, encodingInvalidCharacters: false) ?? appending(path: path)
    }

    /// The address with another query.
    package func asking(_ query: String) -> URL { URL(address: "?" + query, relativeTo: self) ?? self }

    /// The file's name at the end of the path, decoded; empty if the path ends with a slash.
    ///
    /// A name whose bytes are no UTF-8 keeps its triplets. An encoded slash separates names too: object stores write
    /// `models%2Fa.gguf`.
    package var fileName: String {
        let path = path(percentEncoded: true)
        let last = path.split(separator: "/", omittingEmptySubsequences: false).last ?? ""
        let name = String(bytes: PercentText.decoded(last), encoding: .utf8) ?? String(last)
        return name.split(separator: "/", omittingEmptySubsequences: false).last.map(String.init) ?? ""
    }
}
