import HearthBase

extension GitBlobID {
    /// Computes git's name of bytes in memory. Requires a system with SHA-1.
    package init(hashing bytes: [UInt8]) {
        do {
            var hasher = try GitBlobHasher(size: UInt64(bytes.count))
            try bytes.withUnsafeBytes { try hasher.update($0) }
            self = try hasher.finalize()
        } catch {
            preconditionFailure("\(error)")
        }
    }
}
