import Foundation
import HearthBase
import HearthHTTP
import HearthTestSupport
import Testing

@testable import HearthTransfer

/// A row brought to life: its server, its folder, its clock; and what has to hold for every row.
final class FaultRun: Sendable {
    static let content = Content.pattern(count: 300_000)
    static let digest = SHA256Digest(hashing: content.bytes)
    private static let index: ChunkIndex? = {
        var builder = ChunkIndexBuilder(length: 32 << 10)
        content.bytes.withUnsafeBytes { builder.update($0) }
        return try? builder.finalize().index
    }()
    private static let http = CurlHTTPClient()
    /// The name of a server's header that says how many seconds each 1000 bytes take, on the virtual clock.
    static let pace = "X-Seconds-Per-1000-Bytes"

    private let fault: Fault
    private let shape: Shape
    private let folder: TemporaryFolder
    private let clock = HurriedClock()
    private let server: FaultServer
    private let mirror: FaultServer?
    private let closedPort: ClosedPort?
    /// Speaks first, and not TLS.
    private let plainServer: FaultServer?
    private let tlsServer: TLSServer?
    private let disk: FaultyFileSystem
    private let script: FaultScript
    private let provider: CountingProvider?

    init(_ example: FaultCase) async throws {
        fault = example.fault
        shape = example.shape
        folder = try TemporaryFolder()
        let script = FaultScript(fault, Self.content)
        self.script = script
        provider = fault.provider.map { CountingProvider($0) }
        server = try FaultServer { script.reply(to: $0) }
        mirror = fault.hasMirror ? try FaultServer(FaultServer.file(Self.content)) : nil
        closedPort = fault.origin == .closedPort ? try ClosedPort() : nil
        let complaint = Data("HTTP/1.1 400 Bad Request\r\n\r\n".utf8)
        plainServer = fault.origin == .withoutTLS ? try FaultServer(greeting: complaint) { _ in .hangUp } : nil
        tlsServer = try await Self.tlsServer(fault.origin, redirectingTo: try server.url("/m.gguf"))
        let base: any FileSystem = fault.fullAt.map { FullDisk(at: $0) } ?? LocalFileSystem()
        disk = FaultyFileSystem(base)
        fault.disk?(disk)
    }

    private static func tlsServer(_ origin: Fault.Origin, redirectingTo url: URL) async throws -> TLSServer? {
        guard case .https(let certificate, _, _) = origin else { return nil }
        let answers = [
            "m.gguf": TLSServer.answer(200, body: content.bytes),
            "moved": TLSServer.answer(302, headers: ["Location: \(url.absoluteString)"]),
        ]
        return try await blocking { try TLSServer(certificate, answers: answers) }
    }

    // MARK: - The two starts

    /// Runs the row: a start with the fault, then one without.
    func run() async throws {
        let client = client()
        let begin = clock.now
        let first = await ending(of: try request(), client)
        let waited = begin.duration(to: clock.now).seconds
        try expectEnding(first, client)
        expectNothingTwice(client)
        expectEffort(waited, client.exchanges.count)
        if let addresses = fault.addresses {
            #expect(addresses.contains(provider?.count ?? 0), "\(provider?.count ?? 0) addresses")
        }

        script.heal()
        provider?.heal()
        disk.heal()
        (disk.base as? FullDisk)?.heal()
        let second = self.client()
        let file = try await transfer(second).fetch(try request(healed: true)) { _ in }
        try expectWhole(file, second)
        try expectOnlyTheRest(after: client, in: second)
    }

    private func client() -> RecordingHTTPClient {
        var http = Self.http
        if case .https(_, isTrusted: true, _) = fault.origin, let tlsServer {
            http = CurlHTTPClient(certificateAuthorities: tlsServer.authority)
        }
        let limit = fault.silenceLimit
        return RecordingHTTPClient(http, size: Self.content.count, silenceLimit: limit) { [clock] headers in
            guard let seconds = headers[Self.pace].flatMap({ Double($0) }) else { return .max }
            try await clock.sleep(until: clock.now.advanced(by: .seconds(seconds)), tolerance: nil)
            return 1000
        }
    }

    private func transfer(_ client: any HTTPClient) -> FileTransfer {
        FileTransfer(
            http: client, fileSystem: disk, time: clock.time, folder: folder.path, tuning: shape.tuning,
            provider: provider)
    }

    private func request(healed: Bool = false) throws -> TransferRequest {
        let place =
            switch healed ? .server : fault.origin {
            case .server: try server.url("/m.gguf")
            case .closedPort: try #require(URL(string: "http://127.0.0.1:\(closedPort?.port ?? 0)/m.gguf"))
            case .unknownName: try #require(URL(string: "https://models.invalid/m.gguf"))
            case .withoutTLS: try #require(plainServer).url("/m.gguf", scheme: "https")
            case .https(_, _, let path): try #require(tlsServer).url(path)
            case .silentTLS: try server.url("/m.gguf", scheme: "https")
            }
        let locations = [place] + (try mirror.map { [try $0.url("/m.gguf")] } ?? [])
        var request = TransferRequest(
            label: "m.gguf", locations: fault.isMirrorFirst ? locations.reversed() : locations,
            size: .exact(Self.content.count), digest: fault.hasDigest ? Self.digest : nil)
        if fault.hasIndex { request.index = Self.index }
        return request
    }

    /// How a start under a manager ends; its own records are on a disk without faults.
    private func ending(
        of request: TransferRequest, _ client: RecordingHTTPClient
    ) async -> Result<TransferredFile, any Error> {
        let manager = TransferManager(
            transfer: transfer(client), folder: folder.path, fileSystem: LocalFileSystem())
        do {
            let file = try await manager.fetch(request)
            await manager.release(request, discarding: false)
            return .success(file)
        } catch {
            return .failure(error)
        }
    }

    // MARK: - What has to hold

    private func expectEnding(_ result: Result<TransferredFile, any Error>, _ client: RecordingHTTPClient) throws {
        switch (fault.ending, result) {
        case (.whole, .success(let file)): try expectWhole(file, client)
        case (.whole, .failure(let error)): Issue.record("it failed: \(error)")
        case (.fails(let code), .success): Issue.record("it succeeded instead of failing with \(code)")
        case (.fails(let code), .failure(let error)):
            let failure = error as? any HearthFailure
            #expect(failure?.codeText == code, "\(error)")
            #expect(
                code != "checksum-mismatch" || failure?.message.hasPrefix("Download corrupted") == true)
            #expect(!"\(error)".contains("s3cret"))
        }
    }

    private func expectWhole(_ file: TransferredFile, _ client: RecordingHTTPClient) throws {
        let right = [Self.digest] + (fault.other.map { [SHA256Digest(hashing: $0.bytes)] } ?? [])
        #expect(right.contains(file.digest))
        #expect(file.size == Self.content.count)
        #expect(try LocalFileSystem().digest(ofFile: file.path) == file.digest, "on the disk")
        // What came of an answer that was out of date is not counted as fetched.
        #expect(shape == .onePiece ? file.fetchedBytes == client.takenCount : file.fetchedBytes <= client.takenCount)
    }

    /// Nothing that has come is asked for, nor taken, a second time, unless the row says how much.
    private func expectNothingTwice(_ client: RecordingHTTPClient) {
        let again = shape == .pieces ? fault.againInPieces ?? fault.again : fault.again
        #expect(again.contains(client.takenAgain), "\(client.takenAgain) bytes were taken twice")
        let askedAgain = client.exchanges.reduce(0) { $0 + $1.askedAgain }
        #expect(askedAgain <= again.upperBound, "\(askedAgain) bytes were asked for twice")
        #expect(client.exchanges.allSatisfy { $0.idleTimeout == .seconds(15) }, "silence has its limit")
    }

    /// Several connections also look for work on the clock, and fail side by side: there the figures are bounds. Where real
    /// silence is cut short, a busy machine's own silences may cost an attempt or two more.
    private func expectEffort(_ waited: Double, _ requests: Int) {
        if let waits = fault.waits {
            let allowed = shape == .onePiece ? waits : waits.lowerBound...(.infinity)
            #expect(allowed.contains(waited), "it waited \(waited) s")
        }
        if let expected = fault.requests {
            let extra = fault.silenceLimit < .seconds(60) ? 2 : 0
            let allowed =
                shape == .onePiece ? expected...(expected + extra) : 1...((Shape.pieceCount + 4) * (expected + extra))
            #expect(allowed.contains(requests), "\(requests) requests")
        }
    }

    /// The next start asks for what is missing, and for nothing else.
    private func expectOnlyTheRest(after first: RecordingHTTPClient, in second: RecordingHTTPClient) throws {
        let file = RangeSet(0..<Self.content.count)
        let had = first.taken.intersection(file)
        #expect(second.takenAgain == 0)
        if fault.ending == .whole {
            #expect(second.taken == (fault.kept == .nothing ? file : RangeSet()), "a file that is here was asked for")
            return
        }
        #expect(had.union(second.taken) == file)
        switch fault.kept {
        case .everything: #expect(second.taken == file.subtracting(had))
        case .nothing: #expect(second.taken == file)
        case .before(let end): #expect(second.taken.isDisjoint(had.intersection(RangeSet(0..<end))))
        case .allBut(let range): #expect(second.taken == RangeSet(range))
        }
    }
}
