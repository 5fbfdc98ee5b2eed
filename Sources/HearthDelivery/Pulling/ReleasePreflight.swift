import Foundation
import HearthBase
import HearthCatalog
import HearthHTTP
import HearthStore
import HearthTransfer

/// Checks before a fetch whether an engine here runs a release, and whether it fits this device as the engine would load it.
///
/// Delivery knows no engine: `Hearth` passes one to `ModelManager`. The check is skipped for archives.
package protocol ReleasePreflight: Sendable {
    /// - Parameters:
    ///   - release: the release, with the locations that may be asked now.
    ///   - head: reads the beginning of its files.
    ///   - activates: whether it is to run here; otherwise it may be of a kind that no engine here runs.
    ///   - ignoresMemory: whether the release may need more memory than this device has.
    /// - Throws: the reason to refuse the pull; `CancellationError`. A file that cannot be read or judged is not
    ///   refused.
    func check(_ release: Release, head: RemoteHead, activates: Bool, ignoresMemory: Bool) async throws

    /// The memory that an engine needs for an installed release on this device; `nil` if that is unknown.
    /// - Parameter weights: the file that an engine opens: the release's own or its artifact.
    func memory(of release: InstalledRelease, weights: Path) async -> ReleaseMemory?
}

/// The memory that an engine needs for a release.
package struct ReleaseMemory: Sendable, Hashable {
    package let bytes: UInt64
    /// The context window of the figure, in tokens.
    package let contextLength: Int

    package init(bytes: UInt64, contextLength: Int) { (self.bytes, self.contextLength) = (bytes, contextLength) }
}
