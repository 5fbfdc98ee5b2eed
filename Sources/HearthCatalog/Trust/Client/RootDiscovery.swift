import Foundation
import HearthBase
import HearthHTTP

/// A root that an origin offers, before a person or the configuration says that its keys are the publisher's.
package struct OfferedRoot: Sendable {
    package let data: Data
    package let metadata: RootMetadata

    /// The SHA-256 of the file, which a person compares with the publisher's.
    package var fingerprint: SHA256Digest { SHA256Digest(hashing: data) }
}

/// Looks for the roots of an origin on a device that has none of them. Nothing is kept.
package struct RootDiscovery: Sendable {
    private let metadata: URL
    private let files: SignedFiles

    /// - Parameter metadata: the address of the folder of the metadata.
    package init(metadata: URL, http: any HTTPClient) {
        self.metadata = metadata
        files = SignedFiles(http: http)
    }

    /// The newest root, each signed by the keys of the one before; `nil` if the origin is not signed.
    /// - Throws: as ``TrustSession/refresh()``.
    package func newest() async throws -> OfferedRoot? {
        var last: OfferedRoot?
        for version in 1...UInt64(TrustUpdate.rootLimit) {
            guard let next = try await root(version, after: last) else { break }
            last = next
        }
        return last
    }

    /// The root with a fingerprint; `nil` if none of the origin's roots has it.
    /// - Throws: as ``TrustSession/refresh()``.
    package func root(_ fingerprint: SHA256Digest) async throws -> OfferedRoot? {
        for version in 1...UInt64(TrustUpdate.rootLimit) {
            guard let data = try await bytes(version) else { return nil }
            if SHA256Digest(hashing: data) == fingerprint { return try Self.read(data) }
        }
        return nil
    }

    private func root(_ version: UInt64, after last: OfferedRoot?) async throws -> OfferedRoot? {
        guard let data = try await bytes(version) else { return nil }
        let root = try Self.read(data)
        if let last { try SignedMetadata(parsing: data, .root).verify(by: last.metadata.keys(.root)) }
        guard root.metadata.fields.version == version else {
            throw TrustError.mismatch(
                "\(MetadataRole.root)", "version", expected: "\(version)", found: "\(root.metadata.fields.version)")
        }
        return root
    }

    private func bytes(_ version: UInt64) async throws -> Data? {
        try Task.checkCancellation()
        let role = MetadataRole.root
        return try await files.bytes(role.addressName(version: version), below: metadata, limit: role.sizeLimit)
    }

    /// Reads a root that its own keys signed.
    private static func read(_ data: Data) throws(TrustError) -> OfferedRoot {
        OfferedRoot(data: data, metadata: try TrustUpdate(root: data, now: .distantPast).root)
    }
}
