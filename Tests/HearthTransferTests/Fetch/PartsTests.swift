import Foundation
import HearthBase
import HearthHTTP
import HearthTestSupport
import Testing

@testable import HearthTransfer

/// Files that come in parts over several connections.
@Suite struct PartsTests {
    private static let content = Content.pattern(count: 1_000_000)
    private static let digest = SHA256Digest(hashing: content.bytes)
    private static let http = CurlHTTPClient()

    private let folder: TemporaryFolder
    private let clock = HurriedClock()

    init() throws { folder = try TemporaryFolder() }

    private var tuning: TransferTuning {
        var tuning = TransferTuning()
        tuning.pieceLength = 32 << 10
        // Helping a slow connection has a test of its own; on a busy machine every connection is slow.
        tuning.minimumSplit = 1 << 40
        tuning.stragglerInterval = nil
        return tuning
    }

    private func request(_ servers: FaultServer..., index: Bool = false) throws -> TransferRequest {
        var request = TransferRequest(
            label: "m.gguf", locations: try servers.map { try $0.url("/m.gguf") }, size: .exact(Self.content.count),
            digest: Self.digest)
        if index { request.index = try Self.index() }
        return request
    }

    private static func index() throws -> ChunkIndex {
        var builder = ChunkIndexBuilder(length: 64 << 10)
        content.bytes.withUnsafeBytes { builder.update($0) }
        return try builder.finalize().index
    }

    private func transfer(
        time: TimeSource? = nil, provider: (any DownloadURLProvider)? = nil, tuning: TransferTuning? = nil
    ) -> FileTransfer {
        FileTransfer(
            http: Self.http, fileSystem: LocalFileSystem(), time: time ?? clock.time, folder: folder.path,
            tuning: tuning ?? self.tuning, provider: provider)
    }

    private func expectWhole(_ file: TransferredFile) throws {
        #expect(file.digest == Self.digest)
        #expect(try LocalFileSystem().digest(ofFile: file.path) == Self.digest)
    }

    /// The ranges asked for, sorted.
    private func ranges(_ server: FaultServer) throws -> [Range<UInt64>] {
        try server.requests.map { request in
            guard let text = request.headers["Range"] else { return 0..<Self.content.count }
            let bounds = text.dropFirst("bytes=".count).split(separator: "-", omittingEmptySubsequences: false)
            let start = try #require(UInt64(bounds[0]))
            return start..<(UInt64(bounds[1]).map { $0 + 1 } ?? Self.content.count)
        }.sorted { $0.lowerBound < $1.lowerBound }
    }

    private var part: Path { folder.path("\(Self.digest.hex)/data.part") }
    private var journal: Path { folder.path("\(Self.digest.hex)/journal") }

    @Test func everyByteIsAskedForOnceOverSeveralConnections() async throws {
        let server = try FaultServer(FaultServer.file(Self.content))
        let most = Locked(0)
        let file = try await transfer(time: .system).fetch(try request(server)) { reading in
            most.withLock { $0 = max($0, reading.connections) }
        }
        try expectWhole(file)
        #expect(file.fetchedBytes == Self.content.count)
        let ranges = try ranges(server)
        #expect(ranges.count == 31)
        #expect(zip(ranges, ranges.dropFirst()).allSatisfy { $0.upperBound == $1.lowerBound })
        #expect(ranges.first?.lowerBound == 0 && ranges.last?.upperBound == Self.content.count)
        #expect(server.requests.dropFirst().allSatisfy { $0.headers["If-Range"] == "\"v1\"" })
    }

    @Test func severalConnectionsAreOpenAtOnce() async throws {
        let gate = Gate()
        let server = try FaultServer { request in
            let reply = FaultServer.answer(request, with: Self.content)
            return request.index == 0 ? reply : reply.stalled(after: 100, at: gate)
        }
        async let file = transfer().fetch(try request(server)) { _ in }
        await server.wait { $0.requests.count >= 5 }
        gate.open()
        try expectWhole(try await file)
    }

    /// A network on which one request falls silent after some bytes and never ends by itself.
    private struct SilentNetwork: HTTPClient {
        let requests = Locked(0)

        func execute(_ request: HTTPRequest) async throws -> HTTPResponse {
            let text = try #require(request.headers["Range"]).dropFirst("bytes=".count)
            let bounds = text.split(separator: "-").compactMap { UInt64($0) }
            let end = bounds.count == 2 ? bounds[1] + 1 : PartsTests.content.count
            let isSilent = requests.withLock { requests in
                requests += 1
                return requests == 4
            }
            let bytes = Array(PartsTests.content.bytes[Int(bounds[0])..<Int(end)])
            let rest = Locked<[UInt8]?>(isSilent ? Array(bytes.prefix(2_000)) : bytes)
            let body = HTTPBody {
                let chunk = rest.withLock { rest in
                    defer { rest = nil }
                    return rest
                }
                if chunk == nil && isSilent { try await Task.sleep(for: .seconds(3600)) }
                return chunk
            }
            let range = "bytes \(bounds[0])-\(end - 1)/\(PartsTests.content.count)"
            return HTTPResponse(status: 206, headers: ["Content-Range": range], url: request.url, body: body)
        }
    }

    @Test(.timeLimit(.minutes(10))) func whoFallsSilentIsRelieved() async throws {
        var tuning = tuning
        tuning.minimumSplit = 1 << 10
        tuning.stragglerInterval = .milliseconds(50)
        let network = SilentNetwork()
        let url = try #require(URL(string: "http://127.0.0.1:1/m.gguf"))
        let request = TransferRequest(
            label: "m.gguf", locations: [url], size: .exact(Self.content.count), digest: Self.digest)
        let file = try await FileTransfer(
            http: network, fileSystem: LocalFileSystem(), time: .system, folder: folder.path, tuning: tuning
        ).fetch(request) { _ in }
        try expectWhole(file)
        #expect(network.requests.withLock { $0 } > 31)
    }

    @Test func aServerThatSendsNoPartsIsAskedOnce() async throws {
        let server = try FaultServer { _ in Reply(body: Self.content) }
        let file = try await transfer().fetch(try request(server)) { _ in }
        try expectWhole(file)
        #expect(server.requests.count == 1)
        #expect(file.fetchedBytes == Self.content.count)
    }

    @Test func oneBrokenConnectionCostsTheOthersNothing() async throws {
        let server = try FaultServer { request in
            let reply = FaultServer.answer(request, with: Self.content)
            return request.index % 8 == 1 ? reply.dropped(after: 5_000) : reply
        }
        let file = try await transfer(time: .system).fetch(try request(server)) { _ in }
        try expectWhole(file)
        #expect(file.fetchedBytes == Self.content.count, "not a byte twice")
    }

    @Test func aWrongChunkAloneComesAgain() async throws {
        var bytes = Self.content.bytes
        bytes[200_000] ^= 0x10
        let damaged = Content.data(Data(bytes))
        let isDamaged = Locked(true)
        let server = try FaultServer { request in
            let isFirst =
                request.headers["Range"]?.hasPrefix("bytes=196608-") == true
                && isDamaged.withLock { flag in
                    defer { flag = false }
                    return flag
                }
            return FaultServer.answer(request, with: isFirst ? damaged : Self.content)
        }
        let start = ContinuousClock.now
        let file = try await transfer(time: .system).fetch(try request(server, index: true)) { _ in }
        try expectWhole(file)
        #expect(file.fetchedBytes == Self.content.count + 65_536)
        #expect(start.duration(to: .now) >= RetryBudget.corruptionPause)
    }

    @Test func aWrongChunkComesFromTheOtherMirror() async throws {
        var bytes = Self.content.bytes
        bytes[200_000] ^= 0x10
        let bad = try FaultServer(FaultServer.file(.data(Data(bytes))))
        let good = try FaultServer(FaultServer.file(Self.content))
        let file = try await transfer(time: .system).fetch(try request(bad, good, index: true)) { _ in }
        try expectWhole(file)
        // Once more, and on a busy machine once more again from the bad one.
        #expect(file.fetchedBytes <= Self.content.count + 3 * 65_536)
    }

    @Test func aChunkThatStaysWrongFailsAndTheRestIsKept() async throws {
        var bytes = Self.content.bytes
        bytes[200_000] ^= 0x10
        let isMended = Locked(false)
        let damaged = Content.data(Data(bytes))
        let server = try FaultServer { request in
            FaultServer.answer(request, with: isMended.withLock { $0 } ? Self.content : damaged)
        }
        let request = try request(server, index: true)
        let error = await #expect(throws: TransferError.self) {
            try await transfer(time: .system).fetch(request) { _ in }
        }
        #expect(error?.code == .checksumMismatch)
        #expect(error?.message.hasPrefix("Download corrupted") == true)
        isMended.withLock { $0 = true }
        let file = try await transfer().fetch(request) { _ in }
        try expectWhole(file)
        #expect(file.fetchedBytes == 65_536)
    }

    @Test func onlyTheHolesAreFetchedAfterACancel() async throws {
        let gate = Gate()
        let server = try FaultServer { request in
            let reply = FaultServer.answer(request, with: Self.content)
            return request.index == 2 ? reply.stalled(after: 1000, at: gate) : reply
        }
        let request = try request(server)
        let first = Task { try await transfer(time: .system).fetch(request) { _ in } }
        await gate.reached()
        await server.wait { $0.requests.count > 8 }
        first.cancel()
        await #expect(throws: CancellationError.self) { try await first.value }
        gate.open()
        let before = server.requests.count
        let file = try await transfer().fetch(request) { _ in }
        try expectWhole(file)
        #expect(file.fetchedBytes < Self.content.count * 9 / 10)
        #expect(server.requests.count > before)
    }

    @Test(arguments: [true, false])
    func aLostJournalCostsNoDownload(withIndex: Bool) async throws {
        let gate = Gate()
        let server = try FaultServer { request in
            let reply = FaultServer.answer(request, with: Self.content)
            return request.index == 20 ? reply.stalled(after: 0, at: gate) : reply
        }
        let request = try request(server, index: withIndex)
        let first = Task { try await transfer(time: .system).fetch(request) { _ in } }
        await gate.reached()
        first.cancel()
        _ = await first.result
        gate.open()
        try Data("{ \"format\": 1, \"exte".utf8).write(to: journal.url)
        let file = try await transfer().fetch(request) { _ in }
        try expectWhole(file)
        #expect(file.fetchedBytes < Self.content.count * 3 / 4, "\(file.fetchedBytes)")
    }

    /// A connection that was cut in the middle of a block: the file system says that the whole of it is written.
    @Test func aBlockThatWasOnlyBegunIsFetchedAgain() async throws {
        let server = try FaultServer(FaultServer.file(Self.content))
        let disk = LocalFileSystem()
        try disk.makeFolders(journal.parent)
        let part = try disk.open(journal.parent.appending("data.part"), .createNew)
        try disk.truncate(part, to: Self.content.count)
        try Self.content.slice(0..<100_001).bytes.withUnsafeBytes { try disk.write(part, $0, at: 0) }
        try Self.content.slice(500_001..<600_001).bytes.withUnsafeBytes { try disk.write(part, $0, at: 500_001) }
        try Data("rubbish".utf8).write(to: journal.url)
        let file = try await transfer().fetch(try request(server)) { _ in }
        try expectWhole(file)
        #expect(file.fetchedBytes < Self.content.count - 180_000, "\(file.fetchedBytes)")
    }

    @Test func wrongBytesUnderALostJournalAreFetchedAgain() async throws {
        let server = try FaultServer(FaultServer.file(Self.content))
        let request = try request(server)
        _ = try await transfer().fetch(request) { _ in }
        try Data("rubbish".utf8).write(to: journal.url)
        var bytes = Self.content.bytes
        bytes[5] ^= 1
        try Data(bytes.prefix(500_000)).write(to: part.url)
        let file = try await transfer().fetch(request) { _ in }
        try expectWhole(file)
        #expect(file.fetchedBytes == Self.content.count + 500_000, "the rest, and then all of it")
    }

    /// Addresses that are good for three requests each.
    private actor Signer: DownloadURLProvider {
        private(set) var given = 0
        let base: URL

        init(_ base: URL) { self.base = base }

        func downloadURL(for location: URL) async throws -> URL {
            given += 1
            return base.appending(queryItems: [URLQueryItem(name: "signature", value: "\(given)")])
        }
    }

    @Test(arguments: [401, 403, 400])
    func anExpiredAddressIsRenewedOnceForAllConnections(_ status: Int) async throws {
        let uses = Locked<[String: Int]>([:])
        let server = try FaultServer { request in
            let signature = request.target.split(separator: "=").last.map(String.init) ?? ""
            let count = uses.withLock { uses in
                uses[signature, default: 0] += 1
                return uses[signature, default: 0]
            }
            return count <= 8 ? FaultServer.answer(request, with: Self.content) : Reply(status)
        }
        let signer = Signer(try server.url("/m.gguf"))
        let file = try await transfer(time: .system, provider: signer).fetch(try request(server)) { _ in }
        try expectWhole(file)
        #expect(file.fetchedBytes == Self.content.count)
        let given = await signer.given
        #expect((4...6).contains(given), "31 parts, 8 for each address, and not one for each connection: \(given)")
    }

    @Test func anAddressThatIsRefusedEvenWhenFreshIsAnError() async throws {
        let server = try FaultServer { _ in Reply(403) }
        let signer = Signer(try server.url("/m.gguf"))
        let error = await #expect(throws: TransferError.self) {
            try await transfer(provider: signer).fetch(try request(server)) { _ in }
        }
        #expect(error?.code == .accessDenied)
        #expect(server.requests.count == 3)
    }

    @Test func bothMirrorsAreUsed() async throws {
        let first = try FaultServer(FaultServer.file(Self.content, etag: "\"a\""))
        let second = try FaultServer(FaultServer.file(Self.content, etag: "\"b\""))
        let file = try await transfer().fetch(try request(first, second)) { _ in }
        try expectWhole(file)
        #expect(!first.requests.isEmpty && !second.requests.isEmpty)
        #expect(second.requests.allSatisfy { $0.headers["If-Range"] != "\"a\"" }, "a tag belongs to its place")
    }

    @Test func aMirrorWithoutPartsIsLeft() async throws {
        let good = try FaultServer(FaultServer.file(Self.content))
        let plain = try FaultServer { _ in Reply(body: Self.content) }
        try expectWhole(try await transfer().fetch(try request(good, plain)) { _ in })
    }
}
