import HearthBase

/// What bringing a release would change on the device: which files come over, and which are here already.
public struct UpdatePlan: Sendable, Hashable {
    /// One file of the release.
    public struct File: Sendable, Hashable {
        public let name: RelativePath
        /// The length in bytes, as far as it is known.
        public let size: UInt64
        /// The installed release that has the same bytes, `nil` if none has.
        public let sharedWith: ReleaseIdentity?
        /// The bytes an earlier attempt has brought already.
        public let held: UInt64
    }

    public let release: ReleaseIdentity
    /// Every file of the release, in its order.
    public let files: [File]

    /// The bytes that would be fetched.
    public var fetchedBytes: UInt64 { sum { $0.sharedWith == nil ? $0.size - min($0.size, $0.held) : 0 } }
    /// The bytes that are on the device in another release.
    public var sharedBytes: UInt64 { sum { $0.sharedWith == nil ? 0 : $0.size } }
    /// The files that are.
    public var sharedFiles: [RelativePath] { files.filter { $0.sharedWith != nil }.map(\.name) }

    /// The plan for a release on a device that has others.
    /// - Parameter held: the bytes an earlier attempt has brought of a file.
    public init(_ release: Release, installed: [InstalledRelease], held: (RemoteFile) -> UInt64 = { _ in 0 }) {
        self.release = release.identity
        var owners: [SHA256Digest: ReleaseIdentity] = [:]
        for release in installed where release.receipt.isVerified {
            for file in release.receipt.files where owners[file.digest] == nil {
                owners[file.digest] = release.identity
            }
        }
        files = release.files.map { file in
            let owner = release.archive == nil ? file.digest.flatMap { owners[$0] } : nil
            return File(
                name: file.name, size: file.size.estimate, sharedWith: owner, held: owner == nil ? held(file) : 0)
        }
    }

    private func sum(_ bytes: (File) -> UInt64) -> UInt64 {
        files.reduce(0) { sum, file in
            let (total, isTooMany) = sum.addingReportingOverflow(bytes(file))
            return isTooMany ? .max : total
        }
    }
}
