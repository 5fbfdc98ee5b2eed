import Foundation
import HearthBase
import HearthHTTP

/// The rules for addresses in a manifest: `https` to any host; `http` to this machine only in a manifest from this
/// machine; `file:` only in a local manifest.
struct ManifestAddress {
    package let manifest: URL

    /// Resolves addresses of the manifest at that location.
    init(manifest: URL) {
        // The fragment of a manifest's address names a model; relative addresses ignore it.
        guard var parts = URLComponents(url: manifest, resolvingAgainstBaseURL: true), parts.fragment != nil else {
            self.manifest = manifest.absoluteURL
            return
        }
        parts.fragment = nil
        self.manifest = parts.url ?? manifest.absoluteURL
    }

    /// Makes an address absolute.
    /// - Returns: the address, or the problem with it.
    package func resolve(_ text: String) -> Result<URL, Problem> {
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

    /// Describes the expected address.
    struct Problem: Error {
        package let expected: String
        init(_ expected: String) { self.expected = expected }
    }
}

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
        switch ManifestAddress(manifest: manifest).resolve(text) {
        case .success(let url): return url
        case .failure(let problem): throw malformed(field, expected: problem.expected, found: text.quoted)
        }
    }
}
