import Foundation
import HearthBase
import HearthHTTP
import HearthTestSupport
import Testing

@testable import HearthDelivery

/// A row brought to life: its server, its folder, its clock; and what has to hold for every row.
final class FaultRun: Sendable {
    static let content = Content.pattern(count: 300_000)
    static let digest = SHA256Digest(hashing: content.bytes)
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
    private let state = Locked(State())

    private struct State {
        var isHealed = false
        var turn = 0
        var isCut = false
    }

    init(_ example: FaultCase) async throws {
        fault = example.fault
        shape = example.shape
        folder = try TemporaryFolder()
        let script = Script(fault: fault, state: state)
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

    /// What the server does, until it is healed.
    private struct Script: Sendable {
        let fault: Fault
        let state: Locked<State>

        func reply(to request: RecordedRequest) -> Reply {
            let asked = request.asked(of: FaultRun.content.count)
            let (turn, isCut) = state.withLock { state -> (Int?, Bool) in
                if state.isHealed { return (nil, false) }
                switch fault.aim {
                case .every: break
                case .byte(let offset): guard asked.contains(offset) else { return (nil, false) }
                case .ranges: guard request.headers["Range"] != nil else { return (nil, false) }
                case .afterCut(let offset):
                    if !state.isCut {
                        state.isCut = asked.contains(offset)
                        return (nil, state.isCut)
                    }
                }
                guard state.turn < fault.times else { return (nil, false) }
                defer { state.turn += 1 }
                return (state.turn, false)
            }
            let visit = Visit(request: request, content: FaultRun.content, turn: turn ?? 0)
            if isCut, case .afterCut(let offset) = fault.aim { return visit.cut(at: offset) }
            return turn == nil ? visit.proper : fault.reply(visit)
        }
    }

    // MARK: - The two starts

    /// Runs the row: a start with the fault, then one without.
    func run() async throws {
        let client = client()
        let begin = clock.now
        let first = await outcome(of: try request(), client)
        let waited = begin.duration(to: clock.now).seconds
        try expectEnding(first, client)
        expectNothingTwice(client)
        if let waits = fault.waits { #expect(waits.contains(waited), "it waited \(waited) s") }
        if let requests = fault.requests, shape == .onePiece {
            #expect(client.exchanges.count == requests, "\(client.exchanges.map(\.asked))")
        }

        state.withLock { $0.isHealed = true }
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
        return RecordingHTTPClient(http, size: Self.content.count, patience: fault.patience) { [clock] headers in
            guard let seconds = headers[Self.pace].flatMap({ Double($0) }) else { return .max }
            try await clock.sleep(until: clock.now.advanced(by: .seconds(seconds)), tolerance: nil)
            return 1000
        }
    }

    private func transfer(_ client: any HTTPClient) -> FileTransfer {
        FileTransfer(http: client, fileSystem: disk, time: clock.time, folder: folder.path)
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
        return TransferRequest(
            label: "m.gguf", locations: [place] + (try mirror.map { [try $0.url("/m.gguf")] } ?? []),
            size: .exact(Self.content.count), digest: fault.hasDigest ? Self.digest : nil)
    }

    private func outcome(
        of request: TransferRequest, _ client: RecordingHTTPClient
    ) async -> Result<TransferredFile, any Error> {
        do {
            return .success(try await transfer(client).fetch(request) { _ in })
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
            #expect((error as? any HearthFailure)?.codeText == code, "\(error)")
            #expect(!"\(error)".contains("s3cret"))
        }
    }

    private func expectWhole(_ file: TransferredFile, _ client: RecordingHTTPClient) throws {
        #expect(file.digest == Self.digest)
        #expect(file.size == Self.content.count)
        #expect(try LocalFileSystem().digest(ofFile: file.path) == Self.digest, "on the disk")
        #expect(file.fetchedBytes == client.takenCount)
    }

    /// Nothing that has come is asked for, nor taken, a second time, unless the row says how much.
    private func expectNothingTwice(_ client: RecordingHTTPClient) {
        #expect(fault.again.contains(client.takenAgain), "\(client.takenAgain) bytes were taken twice")
        let askedAgain = client.exchanges.reduce(0) { $0 + $1.askedAgain }
        #expect(askedAgain <= fault.again.upperBound, "\(askedAgain) bytes were asked for twice")
        #expect(client.exchanges.allSatisfy { $0.idleTimeout == .seconds(15) }, "silence has its limit")
    }

    /// The next start asks for what is missing, and for nothing else.
    private func expectOnlyTheRest(after first: RecordingHTTPClient, in second: RecordingHTTPClient) throws {
        let file = RangeSet(0..<Self.content.count)
        if fault.ending == .whole {
            #expect(second.exchanges.isEmpty, "a file that is here was asked for")
            return
        }
        let had = first.taken.intersection(file)
        #expect(second.takenAgain == 0)
        #expect(had.union(second.taken) == file)
        switch fault.kept {
        case .everything: #expect(second.taken == file.subtracting(had))
        case .nothing: #expect(second.taken == file)
        case .atLeast(let count): #expect(second.taken.total <= Self.content.count - count)
        }
    }
}

/// A disk that has no room for a file's bytes from some place on.
private final class FullDisk: ForwardingFileSystem {
    let base: any FileSystem = LocalFileSystem()
    private let end: Locked<UInt64>

    init(at end: UInt64) { self.end = Locked(end) }

    func heal() { end.withLock { $0 = .max } }

    func write(_ file: OpenFile, _ bytes: UnsafeRawBufferPointer, at offset: UInt64) throws {
        let room = end.withLock { $0 - min($0, offset) }
        let fitting = UnsafeRawBufferPointer(rebasing: bytes.prefix(Int(min(room, UInt64(bytes.count)))))
        try base.write(file, fitting, at: offset)
        guard fitting.count == bytes.count else { throw FileError(errno: ENOSPC, doing: "write", path: file.path) }
    }
}
