import Foundation
import HearthBase
import HearthHTTP
import HearthTestSupport
import Testing

@testable import HearthCatalog
@testable import HearthDelivery
@testable import HearthStore
@testable import HearthTransfer

/// Real sockets and a real disk; the managers' own time stands still unless a test moves it.
@Suite(.timeLimit(.minutes(10))) struct TransferManagerTests {
    static let content = Content.pattern(count: 300_000)
    static let digest = SHA256Digest(hashing: content.bytes)
    private static let http = CurlHTTPClient()

    let release: ReleaseIdentity
    let folder: TemporaryFolder
    let clock = ManualClock()
    let disk = LocalFileSystem()

    init() throws {
        folder = try TemporaryFolder()
        release = ReleaseIdentity(
            family: try #require(Family("toy")), version: ReleaseVersion(SemanticVersion(1, 0, 0)),
            variant: Variant("q4_1"))
    }

    var transfers: Path { folder.path("transfers") }
    var place: Path { folder.path("transfers/\(Self.digest.hex)") }

    /// One process's worth of transfers.
    func manager(time: TimeSource? = nil) -> TransferManager {
        TransferManager(
            transfer: FileTransfer(
                http: Self.http, fileSystem: disk, time: HurriedClock().time, folder: transfers),
            folder: transfers, fileSystem: disk, time: time ?? clock.time)
    }

    func request(_ server: FaultServer) throws -> TransferRequest {
        TransferRequest(
            label: "toy-v1.0.0-q4_1.gguf", locations: [try server.url("/toy-v1.0.0-q4_1.gguf?token=secret")],
            size: .exact(Self.content.count), digest: Self.digest)
    }

    func tag(_ server: FaultServer) throws -> String? {
        TransferPurpose(release: release, source: try server.url("/models.json?key=secret")).tag
    }

    /// A server that stops in the middle of its first answer until the gate is open.
    func stalling(at gate: Gate, after bytes: UInt64 = 100_000) throws -> FaultServer {
        try FaultServer { request in
            let reply = FaultServer.answer(request, with: Self.content)
            return request.index == 0 ? reply.stalled(after: bytes, at: gate) : reply
        }
    }

    /// Readings that a test can wait for.
    final class Readings: Sendable {
        private let (stream, sink) = AsyncStream.makeStream(of: TransferProgress.self)
        private let all = Locked<[TransferProgress]>([])

        var list: [TransferProgress] { all.withLock { $0 } }

        func take(_ reading: TransferProgress) {
            all.withLock { $0.append(reading) }
            sink.yield(reading)
        }

        func first(where isIt: (TransferProgress) -> Bool) async {
            for await reading in stream where isIt(reading) { return }
        }
    }

    /// Lets the manager look at people's wishes once more.
    func tick() async {
        await clock.sleepers(atLeast: 1)
        clock.advance(by: TransferManager.watchInterval)
    }

    // MARK: - Single flight

    /// Each refusal races the question it answers: an asker that is entered beside the actor's own work is never told.
    @Test func aBusyFolderIsSaidHoweverOften() async throws {
        let server = try FaultServer(FaultServer.file(Self.content))
        let request = try request(server)
        let lock = try #require(try await TransferLock.acquire(place, fileSystem: disk))
        for _ in 0..<300 {
            let error = await #expect(throws: TransferError.self) { try await manager().fetch(request) }
            #expect(error?.code == .busy)
        }
        lock.release()
        #expect(server.requests.isEmpty)
    }

    @Test func whoAsksForTheSameFileJoins() async throws {
        let gate = Gate()
        let server = try stalling(at: gate)
        let manager = manager()
        let request = try request(server)
        let first = Readings()
        let second = Readings()
        async let one = manager.fetch(request) { first.take($0) }
        await gate.reached()
        async let two = manager.fetch(request) { second.take($0) }
        await second.first { _ in true }
        gate.open()
        let files = try await [one, two]
        #expect(files[0] == files[1])
        #expect(beginnings(server) == 1)
        #expect(first.list.last?.completedBytes == Self.content.count)
        #expect(second.list.last?.completedBytes == Self.content.count)

        await manager.release(request, discarding: true)
        #expect(try disk.status(at: place) != nil, "the other still needs it")
        await manager.release(request, discarding: true)
        #expect(try disk.contents(of: transfers) == [])
    }

    @Test func whoComesWhenItIsWholeGetsItAtOnce() async throws {
        let server = try FaultServer(FaultServer.file(Self.content))
        let manager = manager()
        let request = try request(server)
        let file = try await manager.fetch(request)
        #expect(try await manager.fetch(request) == file)
        #expect(server.requests.count == 1)
        await manager.release(request, discarding: false)
        await manager.release(request, discarding: false)
        #expect(try await manager.list().map(\.state) == [.finished])
    }

    /// How often the file was asked for from its beginning. A machine that lets the only connection wait for 15 s costs
    /// another, which goes on where the first ended.
    private func beginnings(_ server: FaultServer) -> Int {
        server.requests.count { $0.headers["Range"]?.hasPrefix("bytes=0-") != false }
    }

    @Test func theFirstToLeaveDoesNotStopIt() async throws {
        let gate = Gate()
        let server = try stalling(at: gate)
        let manager = manager()
        let request = try request(server)
        let first = Task { try await manager.fetch(request) }
        await gate.reached()
        let readings = Readings()
        let second = Task { try await manager.fetch(request) { readings.take($0) } }
        await readings.first { _ in true }
        first.cancel()
        await #expect(throws: CancellationError.self) { try await first.value }
        gate.open()
        #expect(try await second.value.digest == Self.digest)
        #expect(beginnings(server) == 1)
    }

    @Test func theLastToLeaveStopsItAndItsBytesStay() async throws {
        let gate = Gate()
        let server = try stalling(at: gate)
        let manager = manager()
        let request = try request(server)
        let readings = Readings()
        let asker = Task { try await manager.fetch(request) { readings.take($0) } }
        await gate.reached()
        await readings.first { $0.state == .downloading && $0.completedBytes > 0 }
        asker.cancel()
        await #expect(throws: CancellationError.self) { try await asker.value }
        await server.wait { $0.connectionsOpen == 0 }
        let list = try await manager.list()
        #expect(list.map(\.state) == [.interrupted])
        #expect(list[0].recordedBytes > 0)
        #expect(try TransferLock.tryAcquire(place, fileSystem: disk) != nil)

        let file = try await manager.fetch(request)
        #expect(file.fetchedBytes < Self.content.count, "it goes on behind them")
    }

    @Test func aFailureReachesEverybodyAndTheNextStartWorks() async throws {
        let gate = Gate()
        let server = try FaultServer { request in
            request.index == 0
                ? Reply(404).stalled(after: 0, at: gate) : FaultServer.answer(request, with: Self.content)
        }
        let manager = manager()
        let request = try request(server)
        let one = Task { try await manager.fetch(request) }
        let two = Task { try await manager.fetch(request) }
        await gate.reached()
        gate.open()
        var failures = 0
        for result in await [one.result, two.result] {
            if case .failure(let error as TransferError) = result, error.code == .missing { failures += 1 }
        }
        // Whoever came after the end has begun the next.
        #expect(failures >= 1)
        #expect(try await manager.fetch(request).digest == Self.digest)
    }

    // MARK: - Steering

    @Test func cancellingThrowsTheBytesAway() async throws {
        let gate = Gate()
        let server = try stalling(at: gate)
        let manager = manager()
        let request = try request(server)
        let asker = Task { try await manager.fetch(request) }
        await gate.reached()
        try await manager.cancel(try TransferKey(request))
        let error = await #expect(throws: TransferError.self) { try await asker.value }
        #expect(error?.code == .cancelled)
        #expect(error?.disposition.exitStatus == 1)
        #expect(try disk.contents(of: transfers) == [])
        #expect(try await manager.fetch(request).fetchedBytes == Self.content.count)
    }

    @Test func pausedItStandsStillAndGoesOn() async throws {
        let gate = Gate()
        let server = try stalling(at: gate)
        let manager = manager()
        let request = try request(server)
        let key = try TransferKey(request)
        let readings = Readings()
        let asker = Task { try await manager.fetch(request) { readings.take($0) } }
        await gate.reached()
        await readings.first { $0.state == .downloading && $0.completedBytes > 0 }
        #expect(try await manager.pause(key) == .here)
        await readings.first { $0.state == .waiting(.paused) }
        await server.wait { $0.connectionsOpen == 0 }
        let here = TransferHolder(process: getpid(), isHere: true)
        #expect(try await manager.list().map(\.state) == [.held(.waiting(.paused), by: here)])
        #expect(try await manager.restore { _ in Issue.record("it is paused") }.isEmpty)

        #expect(try await manager.resume(key) == .here)
        #expect(try await asker.value.digest == Self.digest)
        let sizes = readings.list.map(\.completedBytes)
        #expect(zip(sizes, sizes.dropFirst()).allSatisfy { $0 <= $1 }, "never backwards")
        let range = try #require(server.requests.last?.headers["Range"])
        #expect(range.hasPrefix("bytes=") && range != "bytes=0-")
    }

    /// Two managers, each with a `FileTransfer` of its own, as two processes have.
    @Test func anotherOwnerPausesResumesAndCancels() async throws {
        let gates = [Gate(), Gate()]
        let server = try FaultServer { request in
            let reply = FaultServer.answer(request, with: Self.content)
            return request.index < 2 ? reply.stalled(after: 100_000, at: gates[request.index]) : reply
        }
        let othersClock = ManualClock()
        let (runner, other) = (manager(), manager(time: othersClock.time))
        let request = try request(server)
        let key = try TransferKey(request)
        let readings = Readings()
        let asker = Task { try await runner.fetch(request, tag: try tag(server)) { readings.take($0) } }
        await gates[0].reached()

        #expect(try await other.list().map(\.plan?.label) == ["toy-v1.0.0-q4_1.gguf"])
        _ = try await other.pause(key)
        await tick()
        await readings.first { $0.state == .waiting(.paused) }
        #expect(try await other.list().map(\.state.word) == ["paused"])
        let busy = await #expect(throws: TransferError.self) { try await other.fetch(request) }
        #expect(busy?.code == .busy && busy?.message.contains("process \(getpid())") == true)

        let holder = TransferHolder(process: getpid(), isHere: true)
        #expect(try await other.resume(key) == .elsewhere(holder))
        await tick()
        await gates[1].reached()

        let cancelling = Task { try await other.cancel(key) }
        await othersClock.sleepers(atLeast: 1)  // it is written down, and waits for the runner
        await tick()
        let error = await #expect(throws: TransferError.self) { try await asker.value }
        #expect(error?.code == .cancelled)
        othersClock.advance(by: TransferManager.cancelInterval)
        try await cancelling.value
        #expect(try disk.contents(of: transfers) == [])
    }
}
