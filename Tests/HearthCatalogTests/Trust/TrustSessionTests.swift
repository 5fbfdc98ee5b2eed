import Foundation
import HearthBase
import HearthHTTP
import HearthTestSupport
import Testing

@testable import HearthCatalog

/// Serves an origin from memory and records what is asked of it.
private final class ServedOrigin: HTTPClient {
    /// A status in place of the usual answer, by file name.
    let statuses = Locked<[String: Int]>([:])
    let failure = Locked<HTTPError?>(nil)
    let headers = Locked<HTTPHeaders>([:])
    let files = Locked<[String: Data]>([:])
    let requests = Locked<[HTTPRequest]>([])

    func execute(_ request: HTTPRequest) async throws -> HTTPResponse {
        requests.withLock { $0.append(request) }
        if let failure = failure.withLock({ $0 }) { throw failure }
        let name = String(request.url.path(percentEncoded: true).dropFirst("/o/metadata/".count))
        let data = files.withLock { $0[name] }
        let status = statuses.withLock { $0[name] } ?? (data == nil ? 404 : 200)
        return HTTPResponse(
            status: status, headers: headers.withLock { $0 }, url: request.url, body: HTTPBody([UInt8](data ?? Data())))
    }
}

@Suite(.timeLimit(.minutes(10))) struct TrustSessionTests {
    private let origin = ServedOrigin()
    private let clock = ManualClock(start: TrustLab.now)
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private var store: TrustStore { TrustStore(folder: folder.path("trust")) }

    private func serve(_ lab: TrustLab) throws {
        let published = try lab.published()
        origin.files.withLock { $0 = published }
    }

    private func session(_ clock: ManualClock? = nil) async throws -> TrustSession {
        let url = try #require(URL(string: "https://h.example/o/metadata"))
        return try await TrustSession(metadata: url, http: origin, store: store, time: (clock ?? self.clock).time)
    }

    private func code(_ clock: ManualClock? = nil) async -> String? {
        await code {
            var session = try await session(clock)
            try await session.refresh()
        }
    }

    private func code(_ body: () async throws -> Void) async -> String? {
        do {
            try await body()
            return nil
        } catch let error as any HearthFailure {
            return error.codeText
        } catch {
            return "\(error)"
        }
    }

    @Test func aRefreshKeepsTheBytesAsTheyCame() async throws {
        let lab = TrustLab()
        try store.keep(.root, lab.root())
        try serve(lab)
        #expect(await code() == nil)
        #expect(try store.read(.timestamp) == lab.timestamp())
        #expect(try store.read(.targets) == lab.targets())
        let requests = origin.requests.withLock { $0 }
        #expect(requests.map(\.method) == ["GET", "GET", "GET", "GET"])
        #expect(
            requests.map { $0.url.lastPathComponent } == [
                "2.root.json", "timestamp.json", "1.snapshot.json", "1.targets.json",
            ])
        let isBounded = requests.allSatisfy { $0.maximumBodySize.map { $0 <= 5_000_000 } ?? false }
        #expect(isBounded)
    }

    @Test func withoutARootNothingIsRequested() async throws {
        #expect(await code() == "no-trusted-root")
        #expect(origin.requests.withLock { $0.isEmpty })
    }

    @Test func aDamagedRootIsRefused() async throws {
        try store.keep(.root, Data("{".utf8))
        #expect(await code() == "metadata-invalid")
    }

    @Test(arguments: [403, 404, 410]) func theEndOfTheRootsMayBeDenied(_ status: Int) async throws {
        let lab = TrustLab()
        try store.keep(.root, lab.root())
        try serve(lab)
        origin.statuses.withLock { $0["2.root.json"] = status }
        #expect(await code() == nil)
    }

    @Test(arguments: [(500, "origin-unreachable"), (503, "origin-unreachable"), (401, "origin-refused")])
    func anotherStatusEndsTheRefreshAtOnce(_ status: Int, _ expected: String) async throws {
        let lab = TrustLab()
        try store.keep(.root, lab.root())
        try serve(lab)
        origin.statuses.withLock { $0["2.root.json"] = status }
        #expect(await code() == expected)
        #expect(origin.requests.withLock { $0.count } == 1)
    }

    @Test func aWebPageIsNoMetadata() async throws {
        let lab = TrustLab()
        try store.keep(.root, lab.root())
        try serve(lab)
        origin.headers.withLock { $0 = ["Content-Type": "text/html; charset=utf-8"] }
        origin.files.withLock { $0["2.root.json"] = Data("<html>".utf8) }
        #expect(await code() == "not-a-manifest")
    }

    @Test func aSilentOriginIsTriedAgainLater() async throws {
        try store.keep(.root, TrustLab().root())
        origin.failure.withLock { $0 = HTTPError(.timedOut, "slow") }
        #expect(await code() == "origin-unreachable")
    }

    @Test func anAnswerLongerThanDeclaredIsCutOff() async throws {
        let lab = TrustLab()
        try store.keep(.root, lab.root())
        try serve(lab)
        origin.headers.withLock { $0 = ["Content-Length": "99999999"] }
        #expect(await code() == "metadata-too-large")
    }

    @Test func damagedCopiesAreFetchedAgain() async throws {
        let lab = TrustLab()
        try store.keep(.root, lab.root())
        try serve(lab)
        #expect(await code() == nil)
        for role in [MetadataRole.timestamp, .snapshot, .targets] { try store.keep(role, Data("{}".utf8)) }
        #expect(await code() == nil)
        #expect(try store.read(.snapshot) == lab.snapshot())
    }

    @Test func aRollbackIsRefusedAcrossProcesses() async throws {
        var lab = TrustLab()
        let old = lab
        try store.keep(.root, lab.root())
        lab.bump(.targets, .snapshot, .timestamp)
        try serve(lab)
        #expect(await code() == nil)
        try serve(old)
        #expect(await code() == "metadata-rollback")
        #expect(try store.read(.timestamp) == lab.timestamp())
    }

    @Test func aClockThatWasSetBackRevivesNothing() async throws {
        var lab = TrustLab()
        try store.keep(.root, lab.root())
        lab.expiries[.timestamp] = TrustLab.now.addingTimeInterval(86400)
        try serve(lab)
        #expect(await code() == nil)
        // Two days later the origin was renewed, and the device saw it.
        let old = lab
        lab.bump(.timestamp)
        lab.expiries = [:]
        try serve(lab)
        #expect(await code(ManualClock(start: TrustLab.now.addingTimeInterval(2 * 86400))) == nil)
        // A new device state would accept the old timestamp at the old time; the recorded time does not.
        try store.forget(.timestamp)
        try serve(old)
        #expect(await code() == "metadata-expired")
    }

    @Test func aClockThatIsAheadIsNotRecorded() async throws {
        let lab = TrustLab()
        try store.keep(.root, lab.root())
        try serve(lab)
        #expect(await code(ManualClock(start: TrustLab.now.addingTimeInterval(400 * 86400))) == "metadata-expired")
        #expect(store.checked() == nil)
        #expect(await code() == nil)
    }

    @Test func aFailedSearchDoesNotEndTheSession() async throws {
        var lab = TrustLab()
        lab.files["models.json"] = Data("{}".utf8)
        try store.keep(.root, lab.root())
        try serve(lab)
        var session = try await session()
        try await session.refresh()
        #expect(await code { _ = try await session.find("other") } == "unknown-target")
        let file = try await session.find("models.json")
        let name = try #require(file.addressName(isConsistent: true))
        origin.files.withLock { $0[name] = Data("{}".utf8) }
        let base = try #require(URL(string: "https://h.example/o/metadata/"))
        #expect(try await session.download(file, below: base, limit: 10) == Data("{}".utf8))
        for wrong in ["[]", "{}}", "{"] {
            origin.files.withLock { $0[name] = Data(wrong.utf8) }
            let refusal = await code { _ = try await session.download(file, below: base, limit: 10) }
            #expect(refusal == (wrong.count > 2 ? "metadata-too-large" : "target-mismatch"))
        }
    }
}
