import Foundation
import HearthBase

/// The root that the configuration gives, and what it begins.
extension TrustStore {
    private var pinnedPath: Path { folder.appending("pinned") }

    /// Whether the origin is signed: its folder has a root, or had one. A root that was lost or damaged makes no origin
    /// unsigned; ``TrustSession`` then refuses it.
    package func isSigned() throws -> Bool {
        try isFile(path(of: .root)) || isFile(pinnedPath)
    }

    /// Takes a root from the configuration. The stored one stays if it is as new: it may be a successor of the given one.
    /// - Throws: ``TrustError`` if the given root is malformed or not signed by its own keys.
    package func pin(_ data: Data, now: Date) throws {
        let digest = SHA256Digest(hashing: data)
        // Most calls end here, without a lock.
        if try isPinned(digest, now: now) { return }
        let given = try TrustUpdate(root: data, now: now).root
        let lock = try lock()
        defer { lock.release() }
        if let stored = try storedRoot(now: now), stored.fields.version >= given.fields.version {
            Log.write(.info, "\(folder): the stored root stays, because the configured one is not newer")
        } else {
            // Metadata of another chain of roots would only be refused.
            for role in [MetadataRole.timestamp, .snapshot] { try forget(role) }
            try keep(.root, data)
        }
        try fileSystem.replaceContents(of: pinnedPath, with: Data((digest.hex + "\n").utf8))
    }

    /// Whether the root with a fingerprint was taken before, and one of its chain is trusted now.
    package func isPinned(_ digest: SHA256Digest, now: Date) throws -> Bool {
        try pinned() == digest && storedRoot(now: now) != nil
    }

    /// The earliest expiry of the stored metadata, for lists that are used without asking the origin.
    package func expiry() throws -> Date? {
        let dates = try MetadataRole.topLevel.map { role -> Date in
            guard let data = try read(role) else { throw TrustError.missing("\(role)") }
            let reader = try MetadataReader(SignedMetadata(parsing: data, role).signed, file: "\(role)")
            return try SignedFields(reader, type: role.name).expires
        }
        return dates.min()
    }

    private func pinned() throws -> SHA256Digest? {
        guard try isFile(pinnedPath) else { return nil }
        let text = String(decoding: try contents(of: pinnedPath, limit: 128), as: UTF8.self)
        return SHA256Digest(hex: text.trimmingCharacters(in: .whitespacesAndNewlines))
    }

    private func storedRoot(now: Date) throws -> RootMetadata? {
        guard let data = try read(.root) else { return nil }
        do {
            return try TrustUpdate(root: data, now: now).root
        } catch {
            Log.write(.warning, "\(folder): the stored root is damaged and is replaced: \(error)")
            return nil
        }
    }
}
