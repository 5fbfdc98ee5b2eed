import Foundation
import HearthBase
import HearthCatalog
import HearthHTTP
import HearthTransfer

/// Checks before a fetch whether a release, as its engine would load it, fits this device.
///
/// Delivery knows no engine: `Hearth` passes one to `ModelManager`. The check is skipped if a pull ignores memory, for
/// files that are on this device already, and for archives.
package protocol ReleasePreflight: Sendable {
    /// - Parameters:
    ///   - release: the release, with the locations that may be asked now.
    ///   - head: reads the beginning of its files.
    /// - Throws: the reason to refuse the pull; `CancellationError`. A file that cannot be read or judged is not
    ///   refused.
    func check(_ release: Release, head: RemoteHead) async throws
}
