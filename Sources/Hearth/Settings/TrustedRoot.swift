import Foundation
import HearthBase
import HearthCatalog

/// The root of a signed origin in the settings: a file, its fingerprint, or the bytes that an app ships.
package enum TrustedRoot: Sendable, Hashable {
    case file(Path)
    case fingerprint(SHA256Digest)
    /// Never written to the settings' file.
    case data(Data)

    /// The most bytes of a root's file.
    private static let sizeLimit = 512_000

    static let expectation = "the path of a root.json, or its fingerprint: the 64 digits of its SHA-256"

    /// Reads the value of a setting: 64 hexadecimal digits, else a path; `nil` for other texts.
    init?(_ text: String) {
        if let digest = SHA256Digest(hex: text) {
            self = .fingerprint(digest)
        } else if !text.isEmpty, text.utf8.count < 4096, text.isPlain() {
            self = .file(Path(text).absolute)
        } else {
            return nil
        }
    }

    /// The value in the settings.
    var text: String {
        switch self {
        case .file(let path): path.string
        case .fingerprint(let digest): digest.hex
        case .data(let data): SHA256Digest(hashing: data).hex
        }
    }

    /// Gives an origin this root. Blocks to read the file.
    /// - Throws: ``ConfigurationError`` with `invalid-configuration` if the file cannot be read.
    func apply(to origin: inout Origin, field: String) throws {
        switch self {
        case .fingerprint(let digest): origin.rootDigest = digest
        case .data(let data): origin.root = data
        case .file(let path):
            do {
                origin.root = try LocalFileSystem().contents(ofFile: path, limit: Self.sizeLimit)
            } catch {
                throw ConfigurationError(
                    .invalid, "the root of a signed origin cannot be read from \(path)",
                    context: ErrorContext(
                        file: path.string, field: field, remedy: "Put the publisher's root.json there."),
                    underlying: error)
            }
        }
    }
}

extension Configuration {
    /// Uses an app's origin, in place of one with the same name.
    mutating func use(_ origin: Origin) {
        origins[origin.name] = origin.manifestURL
        roots[origin.name] = origin.root.map { .data($0) } ?? origin.rootDigest.map { .fingerprint($0) }
    }
}
