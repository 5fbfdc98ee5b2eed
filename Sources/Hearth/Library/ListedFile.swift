import Foundation
import HearthBase
import HearthCatalog
import HearthDelivery
import HearthHTTP

/// A model file at an address that no manifest describes: the user's own manifest of one file, kept in the home.
///
/// ```
/// HOME/library/<hash of the address>.json    a manifest as publishers write it
/// ```
package struct ListedFile: Sendable {
    let url: URL
    let digest: SHA256Digest?
    let name: String?

    /// A file of GGUF.
    /// - Parameters:
    ///   - digest: the SHA-256 of the file; `nil` if it is unknown.
    ///   - name: the name to display; `nil` for that of the file.
    /// - Returns: `nil` for an address that is not https, except of this machine, that names a user, or no `.gguf` file.
    package init?(_ url: URL, digest: SHA256Digest? = nil, name: String? = nil) {
        guard Self.isAddress(url), url.scheme == "https" || url.scheme == "http" && url.isLoopback, url.user() == nil
        else { return nil }
        self.url = url
        self.digest = digest
        self.name = name
    }

    /// Whether an address leads to a model file.
    package static func isAddress(_ url: URL) -> Bool {
        url.host()?.isEmpty == false && Path(url.fileName).fileExtension == "gguf"
    }

    /// Asks for the file's length and writes its manifest.
    /// - Returns: the reference that lists it.
    /// - Throws: ``CatalogError`` with `no-file`; `HTTPError`, `FileError`.
    package func list(home: Path, http: any HTTPClient = DefaultHTTPClient()) async throws -> String {
        let response = try await http.execute(
            HTTPRequest(url, method: "HEAD", totalTimeout: .seconds(30), maximumRedirects: 5))
        guard response.status == 200, let size = response.contentLength, size > 0 else {
            throw CatalogError(
                .noFile, "the address leads to no file (status \(response.status))",
                context: ErrorContext(
                    url: url.withoutQuery, field: "reference", remedy: "Check the address in a browser."))
        }
        let data = manifest(size: size)
        let path = home.appending("library").joined("\(hash).json")
        try await blocking {
            let fileSystem = LocalFileSystem()
            try fileSystem.makeFolders(path.parent, permissions: 0o700)
            try fileSystem.replaceContents(of: path, with: data, permissions: 0o600)
        }
        return path.url.absoluteString + "#" + family
    }

    /// The beginning of the SHA-256 of the address.
    private var hash: Substring { SHA256Digest(hashing: Data(url.absoluteString.utf8)).hex.prefix(16) }

    /// The family: the file's name in the letters that a family may have, and the address's hash. Two addresses whose
    /// files have the same name are two models.
    private var family: String {
        let name = WrittenName(stem)?.family.name.prefix(55) ?? "model"
        return "\(name)-\(hash.prefix(8))"
    }

    /// The name of the file without its extension.
    private var stem: String { String(url.fileName.dropLast(5)) }

    private func manifest(size: UInt64) -> Data {
        var entry: JSONMembers = [
            "id": .string(url.fileName), "family": .string(family), "version": .string("1"),
            "filename": .string(family + ".gguf"), "sizeBytes": .integer(size),
            "downloadUrl": .string(url.absoluteString), "role": .string("text"),
        ]
        entry["sha256"] = digest.map { .string($0.hex) }
        let shown = name.flatMap { $0.isEmpty ? nil : $0 } ?? stem
        entry["name"] = .string(String(shown.prefix(200)))
        return JSONValue.object(["schemaVersion": .integer(1), "models": .array([.object(entry)])]).data
    }
}
