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

extension ModelManager {
    /// Reads the beginning of an offered file, as ``RemoteHead/read(_:upTo:until:)`` does, and keeps none of it.
    /// - Parameter metered: the use of metered networks.
    /// - Throws: as `read`; `NetworkError` with `offline` or `metered-network`.
    package nonisolated func head(
        of file: RemoteFile, metered: MeteredUse = .deny, upTo limit: Int = RemoteHead.maximumBytes,
        until isEnough: (Data) throws -> Bool
    ) async throws -> Data {
        var file = file
        file.locations = try await gate(metered).admitted(file.locations)
        return try await remoteHead.read(TransferRequest(file), upTo: limit, until: isEnough)
    }

    nonisolated func gate(_ metered: MeteredUse) -> NetworkGate {
        NetworkGate(policy: NetworkPolicy(metered: metered), monitor: network, time: time)
    }

    /// Asks the preflight whether a release fits, before fetching it.
    /// - Parameter files: the files to fetch, with the locations that may be asked.
    nonisolated func preflight(_ release: Release, _ files: [RemoteFile], _ options: PullOptions) async throws {
        guard let preflight = releasePreflight, !ignoresMemory, !options.ignoreMemory, release.archive == nil,
            let weights = files.first(where: { $0.name == release.file.name }), weights.copies.isEmpty
        else { return }
        var admitted = release
        admitted.file = weights
        admitted.companions = release.companions.map { companion in
            files.first { $0.name == companion.name } ?? companion
        }
        try await preflight.check(admitted, head: remoteHead)
    }
}
