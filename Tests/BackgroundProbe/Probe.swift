import Foundation
import HearthBackground
import HearthBase
import HearthCatalog
import HearthDelivery
import HearthHTTP
import HearthStore
import HearthTransfer

/// An app that downloads all models of an origin, and leaves their bytes to a played service of the system.
///
/// ```
/// HearthBackgroundProbe front HOME MANIFEST SOCKET LENGTH
/// HearthBackgroundProbe background HOME MANIFEST SOCKET LENGTH
/// ```
/// `front` begins what is not begun, hands it over, waits and installs; it ends when all models are installed. Each run
/// goes on where the one before was killed. `background` is a launch for the service's events: it takes them and ends.
/// LENGTH is that of a piece in bytes.
@main struct Probe {
    private static let session = "probe"

    static func main() async {
        let words = Array(CommandLine.arguments.dropFirst())
        guard words.count == 5, let address = URL(address: words[2]), let length = UInt64(words[4]) else { exit(64) }
        let manager = ModelManager(
            home: Path(words[1]), origins: [Origin(name: "origin", manifestURL: address)],
            network: UnmonitoredNetwork(), deviceMemory: 1 << 40)
        let restarts = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        let downloads = BackgroundDownloads(
            manager, identifier: session, limits: PieceLimits(length: length)
        ) { landing, report in
            DaemonSession(
                words[3], landing: landing, reconnected: { restarts.continuation.yield() }, report: report)
        }
        Task { for await _ in restarts.stream { await downloads.start() } }
        // A person who looks at the app now and then: a task that the service has lost is ordered anew.
        Task {
            while !Task.isCancelled {
                try await Task.sleep(for: .seconds(1))
                await downloads.start()
            }
        }
        do {
            await downloads.start()
            if words[0] == "background" {
                await downloads.handleEvents(forSession: session)
            } else {
                while try await installs(manager, downloads) {}
            }
            print("done")
        } catch {
            print("error \((error as? any HearthFailure)?.codeText ?? "\(error)"): \(error)")
            exit(1)
        }
    }

    /// One stay in front; `false` once all models are installed.
    private static func installs(_ manager: ModelManager, _ downloads: BackgroundDownloads) async throws -> Bool {
        let installed = Set(try await manager.installed().map(\.identity.family))
        let begun = Set(try await manager.transfers.list().compactMap(\.release?.family))
        let offers = try await manager.available()
        let missing = offers.map(\.release).filter { !installed.contains($0.identity.family) }
        guard !missing.isEmpty else { return false }
        let new = missing.filter { !begun.contains($0.identity.family) }.map(\.identity.family)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for family in new {
                group.addTask {
                    do {
                        _ = try await manager.pull(ModelReference(parsing: family.name))
                    } catch is CancellationError {}  // handed over
                }
            }
            try await begin(new, manager)
            try await downloads.handOver()
            try await group.waitForAll()
        }
        try report(try await downloads.finish())
        await downloads.landed()
        try report(try await downloads.finish())
        return true
    }

    /// Waits until each model has a transfer on the disk, or is installed.
    private static func begin(_ families: [Family], _ manager: ModelManager) async throws {
        while true {
            let begun = try await manager.transfers.list().compactMap(\.release?.family)
            let installed = try await manager.installed().map(\.identity.family)
            if Set(begun + installed).isSuperset(of: families) { return }
            // The records are those of a real process on a real disk: no clock of ours moves them.
            try await Task.sleep(for: .milliseconds(5))
        }
    }

    private static func report(_ outcomes: [Family: Result<PullOutcome, any Error>]) throws {
        for (family, outcome) in outcomes {
            do {
                print("installed \(try outcome.get().release.identity)")
            } catch {
                print("failed \(family) \((error as? any HearthFailure)?.codeText ?? "\(error)"): \(error)")
            }
        }
    }
}
