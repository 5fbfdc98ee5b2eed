import Foundation
import HearthBase
import HearthHTTP
import HearthTestSupport
import Testing

@testable import HearthTransfer

/// Bytes that are whole and wrong.
@Suite(.timeLimit(.minutes(10))) struct CorruptionTests {
    private static let content = Content.pattern(count: 300_000)
    private static let digest = SHA256Digest(hashing: content.bytes)
    private static let damaged: Data = {
        var bytes = content.bytes
        bytes[123_456] ^= 1
        return Data(bytes)
    }()
    private static let http = CurlHTTPClient()

    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func request(_ servers: FaultServer...) throws -> TransferRequest {
        TransferRequest(
            label: "m.gguf", locations: try servers.map { try $0.url("/m.gguf") }, size: .exact(Self.content.count),
            digest: Self.digest)
    }

    private func transfer(_ time: TimeSource) -> FileTransfer {
        FileTransfer(http: Self.http, fileSystem: LocalFileSystem(), time: time, folder: folder.path)
    }

    /// A server whose first `count` answers are damaged.
    private func server(damaging count: Int) throws -> FaultServer {
        try FaultServer { FaultServer.answer($0, with: $0.index < count ? .data(Self.damaged) : Self.content) }
    }

    private var part: Path { folder.path("\(Self.digest.hex)/data.part") }

    private func expectNoBytes() throws {
        #expect(try LocalFileSystem().status(at: part) == nil)
        #expect(try LocalFileSystem().status(at: folder.path("\(Self.digest.hex)/journal")) == nil)
    }

    @Test(arguments: [1, 2])
    func theNextAttemptMendsIt(damaged count: Int) async throws {
        let server = try server(damaging: count)
        let clock = HurriedClock()
        let start = clock.now
        let pauses = Locked(0)
        let file = try await transfer(clock.time).fetch(try request(server)) { reading in
            if case .retrying = reading.state { pauses.withLock { $0 += 1 } }
        }
        #expect(pauses.withLock { $0 } == count, "people see why nothing moves")
        #expect(try LocalFileSystem().digest(ofFile: file.path) == Self.digest)
        #expect(file.digest == Self.digest)
        #expect(file.fetchedBytes == Self.content.count * UInt64(count + 1), "what was thrown away was fetched, too")
        #expect(server.requests.map { $0.headers["Range"] } == Array(repeating: nil, count: count + 1))
        #expect(start.duration(to: clock.now) == .milliseconds(1500 * count))
    }

    @Test func afterThreeAttemptsItIsCorruptedAndBothDigestsAreTold() async throws {
        let server = try server(damaging: 5)
        let clock = HurriedClock()
        let start = clock.now
        let request = try request(server)
        let error = await #expect(throws: TransferError.self) {
            try await transfer(clock.time).fetch(request) { _ in }
        }
        #expect(error?.code == .checksumMismatch)
        #expect(error?.message.hasPrefix("Download corrupted") == true)
        #expect(error?.context.expected == Self.digest.hex)
        #expect(error?.context.found == SHA256Digest(hashing: Self.damaged).hex)
        #expect(error?.disposition == .failed)
        #expect(server.requests.count == 3)
        #expect(start.duration(to: clock.now) == .seconds(3), "no pause after the last")
        try expectNoBytes()

        // The count begins anew: two more damaged answers are forgiven.
        let file = try await transfer(clock.time).fetch(request) { _ in }
        #expect(file.digest == Self.digest)
        #expect(server.requests.count == 6)
    }

    @Test func inThePauseNothingIsLeftAndOtherCallsAreRefused() async throws {
        let server = try server(damaging: 1)
        let clock = ManualClock()
        let request = try request(server)
        let first = Task { try await transfer(clock.time).fetch(request) { _ in } }
        await clock.sleepers(atLeast: 1)
        try expectNoBytes()
        let error = await #expect(throws: TransferError.self) {
            try await transfer(clock.time).fetch(request) { _ in }
        }
        #expect(error?.code == .busy)
        #expect(server.requests.count == 1)
        clock.advance(by: .milliseconds(1500))
        #expect(try await first.value.digest == Self.digest)
    }

    @Test func aCancelInThePauseEndsIt() async throws {
        let server = try server(damaging: 1)
        let clock = ManualClock()
        let request = try request(server)
        let first = Task { try await transfer(clock.time).fetch(request) { _ in } }
        await clock.sleepers(atLeast: 1)
        first.cancel()
        await #expect(throws: CancellationError.self) { try await first.value }
        clock.advance(by: .seconds(10))
        #expect(server.requests.count == 1)
        try expectNoBytes()
        #expect(try await transfer(clock.time).fetch(request) { _ in }.digest == Self.digest)
    }

    @Test func theNextPlaceIsAskedAfterBadBytes() async throws {
        let bad = try server(damaging: 9)
        let good = try server(damaging: 0)
        let file = try await transfer(HurriedClock().time).fetch(try request(bad, good)) { _ in }
        #expect(file.digest == Self.digest)
        #expect(bad.requests.count == 1)
        #expect(good.requests.count == 1)
    }

    @Test func bytesDamagedOnTheDiskAreFetchedAgain() async throws {
        let server = try server(damaging: 0)
        let request = try request(server)
        _ = try await transfer(HurriedClock().time).fetch(request) { _ in }
        try Self.damaged.write(to: URL(filePath: part.string))
        let file = try await transfer(HurriedClock().time).fetch(request) { _ in }
        #expect(file.digest == Self.digest)
        #expect(server.requests.count == 2)
    }

    @Test func withoutADigestNothingIsWrong() async throws {
        let server = try server(damaging: 1)
        var request = try request(server)
        request.digest = nil
        let file = try await transfer(HurriedClock().time).fetch(request) { _ in }
        #expect(file.digest == SHA256Digest(hashing: Self.damaged))
        #expect(server.requests.count == 1)
    }

    @Test func progressStaysUsableWhileBytesComeAgain() async throws {
        let server = try server(damaging: 2)
        let readings = Locked<[TransferProgress]>([])
        _ = try await transfer(HurriedClock().time).fetch(try request(server)) { reading in
            readings.withLock { $0.append(reading) }
        }
        let all = readings.withLock { $0 }
        #expect(zip(all, all.dropFirst()).allSatisfy { $0.completedBytes <= $1.completedBytes })
        #expect(all.last?.fraction == 1)
        // The clock moves in the pauses only: each attempt tells its phases and its last byte, not every chunk.
        #expect(all.count <= 12)
    }
}
