import HearthBase
import HearthCatalog

/// The changes that pulling a release would make: files to fetch, and files that are on this device already.
package struct UpdatePlan: Sendable, Hashable {
    /// One file of the release.
    package struct File: Sendable, Hashable {
        package let name: RelativePath
        /// The length in bytes, or an estimate.
        package let size: UInt64
        /// The installed release that has the same bytes, `nil` if none has.
        package let sharedWith: ReleaseIdentity?
        /// The bytes kept from an earlier attempt.
        package let held: UInt64
    }

    package let release: ReleaseIdentity
    /// Every file of the release, in its order.
    package let files: [File]

    /// The bytes that would be fetched.
    package var fetchedBytes: UInt64 { sum { $0.sharedWith == nil ? $0.size - min($0.size, $0.held) : 0 } }
    /// The bytes that another installed release has.
    package var sharedBytes: UInt64 { sum { $0.sharedWith == nil ? 0 : $0.size } }
    /// The files that another installed release has.
    package var sharedFiles: [RelativePath] { files.filter { $0.sharedWith != nil }.map(\.name) }

    /// Plans the pull of a release on a device with other releases.
    /// - Parameter held: the bytes of a file kept from an earlier attempt.
    package init(_ release: Release, installed: [InstalledRelease], held: (RemoteFile) -> UInt64 = { _ in 0 }) {
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

    private func sum(_ bytes: (File) -> UInt64) -> UInt64 { files.map(bytes).saturatedSum }
}
