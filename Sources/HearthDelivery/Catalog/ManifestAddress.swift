import Foundation
import HearthBase

/// Which addresses a manifest may name: `https` anywhere; `http` to this machine only for a manifest that came from this
/// machine itself; `file:` only for a manifest that is a local file.
struct ManifestAddress {
    let manifest: URL

    /// Addresses in a manifest that lies there.
    init(manifest: URL) {
        // A fragment names a model in the manifest and is no part of what its addresses are relative to.
        guard var parts = URLComponents(url: manifest, resolvingAgainstBaseURL: true), parts.fragment != nil else {
            self.manifest = manifest.absoluteURL
            return
        }
        parts.fragment = nil
        self.manifest = parts.url ?? manifest.absoluteURL
    }

    /// The address made absolute.
    /// - Returns: the address, or what is wrong with it.
    func resolve(_ text: String) -> Result<URL, Problem> {
        guard !text.isEmpty, text.utf8.count <= 8192 else { return .failure(Problem("an address")) }
        guard !text.unicodeScalars.contains(where: { $0.properties.generalCategory == .control || $0 == "\\" }),
            let url = URL(string: text, relativeTo: manifest)?.absoluteURL, url.path != "", url.path != "/"
        else { return .failure(Problem("an address")) }
        if let written = URL(string: text), written.user != nil || written.password != nil {
            return .failure(Problem("an address without user name and password"))
        }
        switch url.scheme?.lowercased() {
        case "https" where url.host?.isEmpty == false: return .success(url)
        case "http" where url.isLoopback && (manifest.isFileURL || manifest.isLoopback): return .success(url)
        case "file" where manifest.isFileURL && (url.host ?? "").isEmpty: return .success(url)
        case "http" where url.isLoopback: return .failure(Problem("an https address, as the manifest's own"))
        case "file": return .failure(Problem("an address on the network, as the manifest's own"))
        default: return .failure(Problem("an https address"))
        }
    }

    /// What was expected instead.
    struct Problem: Error {
        let expected: String
        init(_ expected: String) { self.expected = expected }
    }
}

extension URL {
    /// Whether the address leads to this machine: `localhost`, `127.0.0.0/8`, `::1`.
    var isLoopback: Bool {
        guard let host = host?.lowercased() else { return false }
        if host == "localhost" || host == "::1" || host == "[::1]" { return true }
        let parts = host.split(separator: ".", omittingEmptySubsequences: false)
        return parts.count == 4 && parts[0] == "127"
            && parts.allSatisfy { UInt8($0) != nil && $0.utf8.allSatisfy { (48...57).contains($0) } }
    }
}

extension ManifestReader {
    /// The address in a field, made absolute.
    func address(_ field: String) throws(CatalogError) -> URL? {
        guard let value = value(field) else { return nil }
        guard case .string(let text) = value else { throw malformed(field, expected: "an address", found: value.kind) }
        return try address(text, field)
    }

    /// The addresses in a list.
    func addresses(_ field: String) throws(CatalogError) -> [URL] {
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
        switch ManifestAddress(manifest: manifest).resolve(text) {
        case .success(let url): return url
        case .failure(let problem): throw malformed(field, expected: problem.expected, found: text.quoted)
        }
    }
}
