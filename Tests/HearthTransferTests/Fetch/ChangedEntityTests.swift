import Foundation
import HearthBase
import HearthHTTP
import HearthTestSupport
import Testing

@testable import HearthTransfer

@Suite struct EntityTagsTests {
    /// The tag that is known, that of the answer, and whether the bytes belong together.
    @Test(
        arguments: [
            (nil, "a", false), ("a", "a", true), ("a", "b", false), ("a", nil, false), (nil, nil, false),
        ] as [(String?, String?, Bool)])
    func aPartBelongsByItsTag(known: String?, tag: String?, belongs: Bool) {
        var tags = EntityTags()
        if let known { tags.note(known, of: 0) }
        #expect(tags.vouch(for: tag, of: 0, isPart: true, isFirst: false) == belongs)
        let begins = known == nil && tag != nil
        #expect(tags.vouch(for: tag, of: 0, isPart: true, isFirst: true) == (belongs || begins))
        #expect(tags.vouch(for: tag, of: 0, isPart: false, isFirst: true), "the whole of a file needs nobody's word")
        let isSame = known != nil && known == tag
        #expect(tags.vouch(for: tag, of: 0, isPart: false, isFirst: false) == isSame)
    }

    @Test func theTagsOfTwoPlacesSayNothingOfEachOther() {
        var tags = EntityTags()
        tags.note("a", of: 0)
        #expect(!tags.vouch(for: "a", of: 1, isPart: true, isFirst: false))
        #expect(!tags.vouch(for: "a", of: 1, isPart: false, isFirst: true))
    }

    @Test func aPlaceThatChangesItsTagIsAskedWithoutACondition() {
        var tags = EntityTags()
        tags.note("a", of: 0)
        tags.note("b", of: 1)
        tags.distrust(0)
        #expect(tags.condition(for: 0) == nil)
        #expect(tags.condition(for: 1) == "b")
        tags.removeAll()
        tags.note("c", of: 0)
        #expect(tags.condition(for: 0) == nil, "also after everything began again")
    }
}

@Suite struct RestartRecordTests {
    @Test func newBeginningsInVainAreCountedForEachPlace() {
        var record = RestartRecord()
        let taken = [0, 0, 0, 0, 0, 1].map { record.take($0) }
        #expect(taken == [true, true, true, false, false, true])
        record.progressed()
        let isForgiven = record.take(0)
        #expect(isForgiven, "the file became longer")
    }

    @Test func anOffsetThatAPlaceDoesNotKnowIsForgivenOnce() {
        var record = RestartRecord()
        let taken = [0, 1, 0].map { record.takeUnsatisfied($0) }
        #expect(taken == [true, true, false])
        record.progressed()
        let isForgiven = record.takeUnsatisfied(0)
        #expect(!isForgiven, "whatever came since")
    }
}

/// Servers that change what they have, or say so.
@Suite(.timeLimit(.minutes(10))) struct ChangedEntityTests {
    private static let content = Content.pattern(count: 300_000)
    private static let other = Content.pattern(offset: 7, count: 300_000)
    private static let http = CurlHTTPClient()

    private let folder: TemporaryFolder
    private let clock = HurriedClock()

    init() throws { folder = try TemporaryFolder() }

    private func request(
        _ server: FaultServer, size: FileSize = .exact(content.count), digest: SHA256Digest? = nil
    ) throws -> TransferRequest {
        TransferRequest(label: "m.gguf", locations: [try server.url("/m.gguf")], size: size, digest: digest)
    }

    private func fetch(_ request: TransferRequest, tuning: TransferTuning = TransferTuning()) async throws -> Data {
        let transfer = FileTransfer(
            http: Self.http, fileSystem: LocalFileSystem(), time: clock.time, folder: folder.path, tuning: tuning)
        let file = try await transfer.fetch(request) { _ in }
        return try Data(contentsOf: file.path.url)
    }

    private var inPieces: TransferTuning {
        var tuning = TransferTuning()
        tuning.pieceLength = 32 << 10
        tuning.stragglerInterval = nil
        return tuning
    }

    /// The first piece comes last, when the others are here and the file has been replaced by another.
    @Test func aWholeFileOfAnotherTagIsNotMixedWithTheParts() async throws {
        let gate = Gate()
        let isReplaced = Locked(false)
        let server = try FaultServer { request in
            if isReplaced.withLock({ $0 }) {
                return FaultServer.answer(request, with: Self.other, etag: "\"b\"")
            }
            let reply = FaultServer.answer(request, with: Self.content, etag: "\"a\"")
            // Also when it is asked for again, because this took long.
            let isFirst = request.headers["Range"]?.hasPrefix("bytes=0-") ?? true
            return isFirst ? reply.stalled(after: 0, at: gate).dropped(after: 0) : reply
        }
        let request = try request(server)
        async let data = fetch(request, tuning: inPieces)
        await server.wait { record in record.requests.count { $0.outcome == .complete } == 9 }
        isReplaced.withLock { $0 = true }
        gate.open()
        #expect(try await data == Self.other.bytes)
    }

    /// One machine tells a tag and sends parts, another sends a file of its own, without a tag, and breaks off.
    @Test func partsOfATagAreNotMixedWithAFileThatHasNone() async throws {
        let server = try FaultServer { request in
            request.index == 1
                ? Reply(body: Self.other).dropped(after: 150_000)
                : FaultServer.answer(request, with: Self.content, etag: "\"b\"")
        }
        let request = try request(server)
        #expect(try await fetch(request, tuning: inPieces) == Self.content.bytes)
        #expect(server.requests.contains { $0.headers["Range"] == "bytes=150000-" }, "the rest was asked for")
    }

    /// The same of two places: the second one's part does not go on where the first one's file broke off.
    @Test func whatAnotherPlaceSendsIsNotMixedWithAFileThatHasNone() async throws {
        let first = try FaultServer { request in
            switch request.index {
            case 0: FaultServer.answer(request, with: Self.other, etag: "\"a\"").dropped(after: 50_000)
            case 1, 2: Reply(503)
            default: Reply(body: Self.other).dropped(after: 30_000)
            }
        }
        let second = try FaultServer(FaultServer.file(Self.content))
        var request = try request(first)
        request.locations.append(try second.url("/m.gguf"))
        #expect(try await fetch(request) == Self.content.bytes)
        #expect(first.requests.count == 4)
        #expect(second.requests.first?.headers["Range"] == "bytes=30000-", "the rest was asked for")
    }

    @Test func withADigestTheNextStartGoesOnUnderAnotherTag() async throws {
        let digest = SHA256Digest(hashing: Self.content.bytes)
        let isNew = Locked(false)
        let server = try FaultServer { request in
            if isNew.withLock({ $0 }) { return FaultServer.answer(request, with: Self.content, etag: "\"b\"") }
            let reply = FaultServer.answer(request, with: Self.content, etag: "\"a\"")
            return request.index == 0 ? reply.dropped(after: 100_000) : Reply(404)
        }
        let request = try request(server, digest: digest)
        await #expect(throws: TransferError.self) { try await fetch(request) }
        isNew.withLock { $0 = true }
        #expect(try await fetch(request) == Self.content.bytes)
        let asked = server.requests.suffix(2)
        #expect(asked.map { $0.headers["Range"] } == ["bytes=100000-", "bytes=100000-"])
        #expect(asked.map { $0.headers["If-Range"] } == ["\"a\"", nil])
    }

    @Test func anotherTagKeepsWhatHasComeAlsoWhereNoLengthIsTold() async throws {
        let server = try FaultServer { request in
            request.index == 0
                ? FaultServer.answer(request, with: Self.content, etag: "\"a\"").dropped(after: 50_000)
                : FaultServer.answer(request, with: Self.content, etag: "\"b\"").framed(.chunked)
        }
        let digest = SHA256Digest(hashing: Self.content.bytes)
        let request = try request(server, size: .about(300_000, limit: 400_000), digest: digest)
        #expect(try await fetch(request) == Self.content.bytes)
        #expect(server.requests.map { $0.headers["Range"] } == [nil, "bytes=50000-", "bytes=50000-"])
    }

    /// The length is a guess, the server's own word is another, and then it says that the file ends where the rest begins.
    @Test(arguments: [true, false])
    func anEndThatCannotBeIsNoEnd(hasDigest: Bool) async throws {
        let server = try FaultServer { request in
            let offset = request.asked(of: Self.content.count).lowerBound
            return offset == 0
                ? FaultServer.answer(request, with: Self.content).dropped(after: 50_000)
                : Reply(416, headers: ["Content-Range": "bytes */\(offset)"])
        }
        let digest = hasDigest ? SHA256Digest(hashing: Self.content.bytes) : nil
        let request = try request(server, size: .about(300_000, limit: 400_000), digest: digest)
        let error = await #expect(throws: TransferError.self) { try await fetch(request) }
        #expect(error?.code == .unexpectedStatus)
        #expect(error?.disposition == .tryLater)
        #expect(server.requests.count == 5)
    }

    @Test func anEndThatMayBeIsTheEnd() async throws {
        let server = try FaultServer { request in
            request.index == 0
                ? Reply(headers: ["ETag": "\"a\""], body: Self.content).framed(.chunked).dropped(after: 300_000)
                : FaultServer.answer(request, with: Self.content, etag: "\"a\"")
        }
        let request = try request(server, size: .about(300_000, limit: 400_000))
        #expect(try await fetch(request) == Self.content.bytes)
        #expect(server.requests.count == 2)
    }

    /// A body without a length that ends too soon is a failure where the length is known, not an answer.
    @Test func anEmptyBodyWithoutALengthIsNoProgress() async throws {
        let gate = Gate()
        let server = try FaultServer { request in
            if request.index == 0 {
                return FaultServer.answer(request, with: Self.content).stalled(after: 0, at: gate).dropped(after: 0)
            }
            if request.asked(of: Self.content.count).lowerBound == 0 {
                return Reply(headers: ["ETag": "\"v1\""]).framed(.chunked)
            }
            return FaultServer.answer(request, with: Self.content)
        }
        let request = try request(
            server, size: .about(300_000, limit: 400_000), digest: SHA256Digest(hashing: Self.content.bytes))
        let transfer = Task { try await fetch(request, tuning: inPieces) }
        await server.wait { record in record.requests.count { $0.outcome == .complete } == 9 }
        gate.open()
        let error = await #expect(throws: HTTPError.self) { try await transfer.value }
        #expect(error?.code == .connectionLost)
        #expect(server.requests.count < 20)
    }
}
