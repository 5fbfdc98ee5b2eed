import Foundation
import Hearth
import HearthBase
import HearthCatalog
import HearthDelivery
import HearthServer
import HearthStore
import HearthTransfer

/// What an app may have this package do while it answers.
protocol OwnWork: Sendable {
    /// Works until its task is cancelled.
    /// - Parameter hasBegun: called when it is under way, more than once perhaps.
    func run(_ hasBegun: @escaping @Sendable () -> Void) async throws
}

/// Receives, hashes and writes a release at the rate of a quick network, again and again.
struct Pulling: OwnWork {
    /// What a line of a gigabit a second brings.
    private static let rate: UInt64 = 125_000_000
    private let manager: ModelManager
    private let family: Family

    init(home: Path, origin: String, family: String) throws {
        guard let family = Family(family) else { exit(64) }
        self.family = family
        manager = try ModelManager(
            home: home, configuration: Configuration(), environment: ["HEARTH_ORIGIN": origin])
    }

    func run(_ hasBegun: @escaping @Sendable () -> Void) async throws {
        var options = PullOptions()
        options.probes = false
        options.bytesPerSecond = Self.rate
        while true {
            _ = try await manager.pull(ModelReference(parsing: family.name), options: options) { progress in
                if progress.completedBytes > 0 { hasBegun() }
            }
            _ = try await manager.remove(family)
        }
    }
}

/// Hashes every installed release, again and again.
struct Verifying: OwnWork {
    private let store: ModelStore

    init(home: Path) { store = ModelStore(home: home) }

    func run(_ hasBegun: @escaping @Sendable () -> Void) async throws {
        let releases = try await store.installed()
        guard !releases.isEmpty else { exit(64) }
        hasBegun()
        while true {
            for release in releases { _ = try await store.verify(release.identity) }
        }
    }
}

/// Serves a folder on this machine.
struct Hosting: OwnWork {
    private let folder: Path
    private let port: UInt16

    init(folder: Path, port: String) {
        guard let port = UInt16(port) else { exit(64) }
        self.folder = folder
        self.port = port
    }

    func run(_ hasBegun: @escaping @Sendable () -> Void) async throws {
        let server = try await blocking { try OriginServer(folder: folder, port: port) }
        hasBegun()
        let (never, source) = AsyncStream<Never>.makeStream()
        for await _ in never {}
        source.finish()
        await server.stop()
    }
}
