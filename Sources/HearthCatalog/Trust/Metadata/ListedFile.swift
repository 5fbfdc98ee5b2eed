import Foundation
import HearthBase
import HearthHTTP

/// The digests of a file in a signed list; at least one of a known algorithm.
package struct ListedDigests: Sendable, Hashable {
    package let sha256: SHA256Digest?
    package let sha512: [UInt8]?

    package init(of data: Data) {
        sha256 = SHA256Digest(hashing: data)
        sha512 = nil
    }

    /// Reads a member `hashes`. Unknown algorithms are left out.
    init(_ reader: MetadataReader) throws(TrustError) {
        guard reader.members.count <= 16 else { throw .invalid(reader.file, "too many digests", field: reader.place) }
        for (name, value) in reader.members {
            guard case .string(let text) = value, (2...256).contains(text.utf8.count),
                [UInt8](hexadecimal: text) != nil
            else { throw reader.failure(name, expected: "hexadecimal digits") }
        }
        func digits(_ name: String, count: Int) throws(TrustError) -> [UInt8]? {
            guard case .string(let text)? = reader.members[name] else { return nil }
            guard let bytes = [UInt8](hexadecimal: text), bytes.count == count else {
                throw reader.failure(name, expected: "\(2 * count) hexadecimal digits")
            }
            return bytes
        }
        sha256 = try digits("sha256", count: SHA256Digest.byteCount).flatMap { SHA256Digest(bytes: $0) }
        sha512 = try digits("sha512", count: ForeignDigest.sha512.rawValue)
    }

    /// Whether the bytes have all known digests; `false` if no digest is known.
    package func match(_ data: Data) -> Bool {
        guard sha256 != nil || sha512 != nil else { return false }
        if let sha256, SHA256Digest(hashing: data) != sha256 { return false }
        if let sha512, ForeignDigest.sha512.digest(of: data) != sha512 { return false }
        return true
    }

    /// The digest that begins the name of a target file, in hexadecimal digits.
    package var prefix: String? { sha256?.hex ?? sha512?.hexadecimal }

    var shown: String { prefix ?? "no known digest" }
}

/// A metadata file as the snapshot or the timestamp lists it.
package struct ListedMetadata: Sendable, Hashable {
    package let version: UInt64
    package let length: UInt64?
    package let digests: ListedDigests?

    init(_ reader: MetadataReader) throws(TrustError) {
        version = try reader.integer("version", in: SignedFields.versions)
        length = reader.has("length") ? try reader.integer("length", in: 1...SignedFields.largestInteger) : nil
        digests = reader.has("hashes") ? try ListedDigests(reader.object("hashes")) : nil
    }

    /// Checks length and digests of a file's bytes, before they are parsed.
    func check(_ data: Data, _ role: MetadataRole) throws(TrustError) {
        if let length, UInt64(data.count) > length {
            throw .mismatch("\(role)", "length", expected: "at most \(length)", found: "\(data.count)")
        }
        if let digests, !digests.match(data) {
            throw .mismatch(
                "\(role)", "digest", expected: digests.shown, found: SHA256Digest(hashing: data).hex)
        }
    }
}

/// A file that a targets role vouches for.
package struct TargetFile: Sendable, Hashable {
    package let path: String
    package let length: UInt64
    package let digests: ListedDigests

    package init(path: String, length: UInt64, digests: ListedDigests) {
        self.path = path
        self.length = length
        self.digests = digests
    }

    /// Checks the bytes of the file.
    /// - Throws: ``TrustError`` with `target-mismatch`.
    package func check(_ data: Data) throws(TrustError) {
        let isRight = UInt64(data.count) == length && digests.match(data)
        guard isRight else {
            throw TrustError(
                .targetMismatch, "\(path.quoted) is not the file that its publisher signed",
                context: ErrorContext(
                    file: path, expected: "\(length) bytes, \(digests.shown)",
                    found: "\(data.count) bytes, \(SHA256Digest(hashing: data).hex)",
                    remedy: "Try again later; if it stays so, ask the publisher. \(TrustError.installedWorks)"))
        }
    }

    /// The file's address below that of the targets: with consistent snapshots its digest begins the name.
    package func addressName(isConsistent: Bool) -> String? {
        guard isConsistent else { return PercentText.encoded(path, keepsSlashes: true) }
        guard let prefix = digests.prefix else { return nil }
        var parts = path.split(separator: "/", omittingEmptySubsequences: false).map(String.init)
        let last = parts.removeLast()
        return PercentText.encoded((parts + ["\(prefix).\(last)"]).joined(separator: "/"), keepsSlashes: true)
    }
}
