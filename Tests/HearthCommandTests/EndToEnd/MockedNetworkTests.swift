import Foundation
import HearthBase
import HearthCatalog
import HearthDelivery
import HearthHTTP
import HearthStore
import HearthTestSupport
import HearthTransfer
import Testing

@testable import HearthCommand

/// The real monitor against a stand-in for NetworkManager, which scripts/network/run.sh has put on a bus.
@Suite(.serialized, .enabled(if: ProcessInfo.processInfo.environment["HEARTH_MOCKED_NETWORK"] == "1"))
struct MockedNetworkTests {
    private static let far = [URL(string: "https://models.example.org/m.gguf")].compactMap(\.self)

    /// Sets a property of the stand-in.
    private static func set(_ property: String, _ value: UInt32) async throws {
        let result = try await ChildProcess.run(
            [
                "call", "--system", "--dest", "org.freedesktop.NetworkManager", "--object-path",
                "/org/freedesktop/NetworkManager", "--method", "org.freedesktop.DBus.Mock.UpdateProperties",
                "org.freedesktop.NetworkManager", "{'\(property)': <uint32 \(value)>}",
            ], program: Path("/usr/bin/gdbus"), environment: ProcessInfo.processInfo.environment)
        try #require(result.status == 0, "\(result.errors)")
    }

    private static func reset() async throws {
        try await set("State", 70)
        try await set("Metered", 4)
    }

    @Test(.timeLimit(.minutes(10))) func everyChangeArrives() async throws {
        try await Self.reset()
        var found: [NetworkCondition] = []
        let monitor = SystemNetwork.monitor()
        for await condition in monitor.conditions() {
            found.append(condition)
            switch found.count {
            case 1: try await Self.set("Metered", 1)
            case 2: try await Self.set("Metered", 2)
            case 3: try await Self.set("State", 20)
            case 4: try await Self.set("State", 70)
            default: break
            }
            if found.count == 5 { break }
        }
        #expect(found == [.unrestricted, .metered, .unrestricted, .offline, .unrestricted])
        #expect(monitor.source == "NetworkManager")
    }

    @Test(.timeLimit(.minutes(10))) func aTransferPausesAndGoesOnByItself() async throws {
        try await Self.reset()
        let gate = NetworkGate(
            policy: NetworkPolicy(), monitor: SystemNetwork.monitor(), settling: .milliseconds(20))
        let events = Locked<[String]>([])
        let (holds, holding) = AsyncStream<NetworkHold?>.makeStream()
        let (runs, running) = AsyncStream<Int>.makeStream()
        let work = Task {
            try await gate.whileAllowed(locations: Self.far) { hold in
                events.withLock { $0.append(hold.map { "\($0)" } ?? "released") }
                holding.yield(hold)
            } body: {
                let run = events.withLock { events in
                    events.append("run")
                    return events.count { $0 == "run" }
                }
                running.yield(run)
                guard run < 3 else { return run }
                let (never, source) = AsyncStream<Never>.makeStream()
                for await _ in never {}
                source.finish()
                throw CancellationError()
            }
        }
        for await run in runs {
            try await Self.set(run == 1 ? "Metered" : "State", run == 1 ? 1 : 20)
            for await hold in holds where hold != nil { break }
            try await Self.reset()
            if run == 2 { break }
        }
        #expect(try await work.value == 3)
        #expect(events.withLock { $0 } == ["run", "metered", "released", "run", "offline", "released", "run"])
    }

    @Test(.timeLimit(.minutes(10))) func theThreadEndsWithTheLastReference() async throws {
        func threads() throws -> Int {
            try FileManager.default.contentsOfDirectory(atPath: "/proc/self/task").filter { task in
                // A thread may end between the listing and the reading.
                let name = try? String(contentsOfFile: "/proc/self/task/\(task)/comm", encoding: .utf8)
                return name?.hasPrefix("hearth.network") ?? false
            }.count
        }
        // Streams of earlier tests may still be letting go.
        while try threads() > 0 { await Task.yield() }
        var monitor: (any NetworkMonitor)? = SystemNetwork.monitor()
        #expect(try threads() == 0, "nobody has asked it yet")
        for await _ in try #require(monitor).conditions() { break }
        #expect(try threads() == 1)
        #expect(monitor?.condition == .unrestricted)
        monitor = nil
        while try threads() > 0 { await Task.yield() }
    }
}
