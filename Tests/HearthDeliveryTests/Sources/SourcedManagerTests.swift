import Foundation
import HearthBase
import HearthHTTP
import HearthTestSupport
import Testing

@testable import HearthCatalog
@testable import HearthDelivery
@testable import HearthStore
@testable import HearthTransfer

/// The front door over its sources: what is offered, to whom, and what stands in when nobody answers.
@Suite(.timeLimit(.minutes(10))) struct SourcedManagerTests {
    private static let http = DefaultHTTPClient()
    private static let content = Content.pattern(count: 30_000)

    private let folder: TemporaryFolder
    private let clock = ManualClock()
    private let server: FaultServer
    private let manifest = Locked("")
    private let control = Locked<String?>("no-cache")
    private let isDown = Locked(false)

    init() throws {
        folder = try TemporaryFolder()
        let (manifest, control, isDown) = (manifest, control, isDown)
        server = try FaultServer { request in
            if isDown.withLock({ $0 }) { return Reply(503) }
            guard request.path.hasSuffix(".json") else { return FaultServer.answer(request, with: Self.content) }
            let data = Data(manifest.withLock { $0 }.utf8)
            let tag = "\"\(SHA256Digest(hashing: data).short)\""
            var reply = FaultServer.answer(request, with: .data(data), etag: tag)
            reply.headers["Cache-Control"] = control.withLock { $0 }
            return reply
        }
    }

    private func offer(_ versions: [String], extra: String = "", top: String = "") {
        let digest = SHA256Digest(hashing: Self.content.bytes)
        let entries = versions.map { version in
            let words = version.split(separator: " ", maxSplits: 1).map(String.init)
            let more = words.count > 1 ? words[1] + "," : ""
            return #"""
                {"id": "\#(words[0])", "filename": "toy-v\#(words[0])-q4.gguf", "sizeBytes": 30000, \#(more)
                 "sha256": "\#(digest)", "downloadUrl": "toy-\#(words[0]).gguf"}
                """#
        }
        manifest.withLock { $0 = #"{\#(top) "models": [\#(entries.joined(separator: ","))]}"# }
    }

    private func manager(
        app: String? = "1.0.0", origins: [String] = ["/models.json"], formats: Set<ModelFormat>? = [.gguf]
    ) throws -> ModelManager {
        ModelManager(
            home: folder.path("home"),
            origins: try origins.map { Origin(name: "o\($0)", manifestURL: try server.url($0)) }, http: Self.http,
            time: clock.time, network: UnmonitoredNetwork(), deviceMemory: 8 << 30,
            appVersion: app.flatMap { SemanticVersion($0) }, formats: formats)
    }

    private func pull(_ reference: String = "toy", _ options: PullOptions = PullOptions()) async throws -> String {
        try await manager().pull(try ModelReference(parsing: reference), options: options).release.identity.version.name
    }

    private func isManifest(_ request: RecordedRequest) -> Bool { request.path.hasSuffix(".json") }

    @Test func theNewestThatThisAppMayHave() async throws {
        offer(["1.0.0", #"1.1.0 "minAppVersion": "2.0.0""#])
        #expect(try await pull() == "1.0.0")
        #expect(
            try await manager().updates().first?.reason
                == .noUpdate(
                    .notEligible(
                        ReleaseIdentity(
                            family: try #require(Family("toy")), version: try #require(ReleaseVersion("1.1.0")),
                            variant: Variant("q4")), .appTooOld(needs: SemanticVersion(2, 0, 0)))))
        #expect(await HubLab.code { _ = try await pull("toy@1.1.0") } == "app-too-old")
        #expect(
            try await manager(app: "2.0.0").pull(try ModelReference(parsing: "toy")).release.identity.version.name
                == "1.1.0")
    }

    @Test func aRolloutReachesItsCohort() async throws {
        offer([#"1.0.0 "rollout": {"percent": 0, "seed": "s"}"#])
        #expect(await HubLab.code { _ = try await pull() } == "not-in-rollout")
        #expect(
            try LocalFileSystem().status(at: folder.path("home/device-id")) == nil, "nobody and everybody need no name")
        #expect(try await pull("toy@1.0.0") == "1.0.0", "who names it means it")
        let identifier = DeviceIdentifier(path: folder.path("home/device-id"), fileSystem: LocalFileSystem())
        let place = try identifier.cohort().place(seed: "s")
        for (percent, expected) in [(max(1, place), place == 0 ? 1 : 0), (min(99, place + 1), place == 99 ? 0 : 1)] {
            offer(["1.0.0", #"1.1.0 "rollout": {"percent": \#(percent), "seed": "s"}"#])
            let finding = try await manager().updates().first?.reason
            if case .newVersion = finding { #expect(expected == 1) } else { #expect(expected == 0) }
        }
    }

    @Test func offersSayWhatSpeaksAgainstThem() async throws {
        offer([
            "1.0.0", #"1.1.0 "minAppVersion": "2.0.0""#, #"1.2.0 "requirements": {"memoryBytes": 9000000000000}"#,
            #"1.3.0 "format": "onnx""#, #"1.4.0 "rollout": {"percent": 0, "seed": "s"}"#,
        ])
        let offers = try await manager().available()
        #expect(
            offers.map { $0.objection?.code } == [
                nil, "app-too-old", "not-enough-memory", "no-engine", "not-in-rollout",
            ])
    }

    @Test func aModelWithoutAnEngineIsFetchedForAnotherProgramOnly() async throws {
        offer([#"1.0.0 "format": "onnx""#])
        let reference = try ModelReference(parsing: "toy")
        let resolved = try await manager().resolve(reference)
        #expect(resolved.objection == .noEngine(.onnx))
        let error = await #expect(throws: DeliveryError.self) { try await manager().pull(reference) }
        #expect(error?.code == .incompatible && error?.context.found == "onnx")
        #expect(try await manager().installed().isEmpty)
        var options = PullOptions()
        options.activate = false
        #expect(try await manager().pull(reference, options: options).release.isActive == false)
    }

    @Test func withinTheHourNobodyIsAsked() async throws {
        control.withLock { $0 = nil }
        offer(["1.0.0"])
        #expect(try await pull() == "1.0.0")
        offer(["1.0.0", "1.1.0"])
        let asked = server.requests.count(where: isManifest)
        #expect(try await manager().updates().first?.reason == .upToDate)
        #expect(server.requests.count(where: isManifest) == asked)
        // What the list does not know is looked up in a new one before anybody hears that it is not there.
        #expect(try await pull("toy@1.1.0") == "1.1.0")
        offer(["1.0.0", "1.1.0", "1.2.0"])
        #expect(try await manager().updates(of: nil, .now).first?.active?.name == "1.1.0")
        var options = PullOptions()
        options.refresh = true
        offer(["1.3.0"])
        #expect(try await pull("toy", options) == "1.3.0")
        clock.advance(by: .seconds(3600))
        offer(["1.4.0"])
        #expect(try await pull() == "1.4.0")
    }

    /// Who wants the latest has the origin asked, however long its list is good for; and a check that had to make do with
    /// the copy is none that found everything up to date.
    @Test func theLatestIsAskedForWithinTheHour() async throws {
        control.withLock { $0 = nil }
        offer(["1.0.0"])
        #expect(try await pull() == "1.0.0")
        offer(["1.0.0", "1.1.0"])
        let manager = try manager()
        let family = try #require(Family("toy"))
        #expect(try await manager.model(family, policy: .latest).identity?.version.name == "1.1.0")
        isDown.withLock { $0 = true }
        var options = PullOptions()
        options.refresh = true
        let check = await manager.checkForUpdates(options: options)
        #expect(check.installed.isEmpty && check.failures.map(\.family) == [family])
        #expect((check.failures.first?.error as? DeliveryError)?.code == .sourceUnreachable)
    }

    @Test func offlineTheLastListDoes() async throws {
        offer(["1.0.0"])
        #expect(try await pull() == "1.0.0")
        isDown.withLock { $0 = true }
        let manager = try manager()
        guard case .alreadyInstalled = try await manager.pull(try ModelReference(parsing: "toy")) else {
            Issue.record("it was fetched without a network")
            return
        }
        let finding = try #require(try await manager.updates().first)
        #expect(finding.reason == .upToDate)
        guard case .cached? = finding.freshness else {
            Issue.record("\(String(describing: finding.freshness))")
            return
        }
        #expect(try await manager.available().count == 1)
    }

    @Test func aCachedListThatHasExpiredInstallsNothingNew() async throws {
        let expires = Date(timeIntervalSinceReferenceDate: clock.time.now.timeIntervalSinceReferenceDate + 60).timestamp
        offer(["1.0.0"], top: #""expires": "\#(expires)","#)
        #expect(try await pull() == "1.0.0")
        offer(["1.0.0", "1.1.0"], top: #""expires": "\#(expires)","#)
        _ = try await manager().available()
        isDown.withLock { $0 = true }
        clock.advance(by: .seconds(61))
        guard case .noUpdate(.catalogStale)? = try await manager().updates().first?.reason else {
            Issue.record("\(try await manager().updates())")
            return
        }
        #expect(await HubLab.code { _ = try await pull() } == "catalog-expired")
        isDown.withLock { $0 = false }
        var options = PullOptions()
        options.allowStale = true
        #expect(try await pull("toy", options) == "1.1.0")
    }

    @Test func severalOriginsOfOneFamilyAreAnError() async throws {
        offer(["1.0.0"])
        let manager = try manager(origins: ["/models.json", "/other.json"])
        let error = await #expect(throws: DeliveryError.self) {
            try await manager.resolve(try ModelReference(parsing: "toy"))
        }
        #expect(error?.code == .ambiguous)
        #expect(error?.message.contains("o/models.json, o/other.json") == true)
    }

    @Test func anOriginThatIsDownHidesNoOther() async throws {
        offer(["1.0.0"])
        let closed = try ClosedPort()
        let dead = try #require(URL(string: "http://127.0.0.1:\(closed.port)/models.json"))
        let manager = ModelManager(
            home: folder.path("home"),
            origins: [
                Origin(name: "dead", manifestURL: dead),
                Origin(name: "alive", manifestURL: try server.url("/models.json")),
            ], http: Self.http, time: clock.time, network: UnmonitoredNetwork(), deviceMemory: 8 << 30)
        #expect(try await manager.available().count == 1)
        #expect(try await manager.pull(try ModelReference(parsing: "toy")).release.isActive)
        #expect(
            await HubLab.code { _ = try await manager.resolve(try ModelReference(parsing: "other")) }
                == "origin-unreachable")
        isDown.withLock { $0 = true }
        let other = ModelManager(
            home: folder.path("other"), origins: [Origin(name: "dead", manifestURL: dead)], http: Self.http,
            network: UnmonitoredNetwork(), deviceMemory: 1)
        #expect(await HubLab.code { _ = try await other.available() } == "origin-unreachable")
    }

    @Test func aSingleModelManifestMeansAnotherVersionAlsoAnOlder() async throws {
        func publish(_ version: String) {
            let digest = SHA256Digest(hashing: Self.content.bytes)
            manifest.withLock {
                $0 =
                    #"{"version": "\#(version)", "url": "toy_\#(version).gguf", "sha256": "\#(digest)", "size_mb": 0.03}"#
            }
        }
        let reference = try ModelReference(parsing: try server.url("/models.json").absoluteString + "#toy")
        publish("2.0.0")
        let manager = try manager()
        #expect(try await manager.pull(reference).release.identity.version.name == "2.0.0")
        publish("1.0.0")
        #expect(try await manager.pull(reference).release.identity.version.name == "1.0.0", "different means wanted")
    }

    @Test func aRollbackOfTheListIsRefusedAndWhatIsInstalledStays() async throws {
        offer(["1.0.0", "1.1.0"], top: #""serial": 5,"#)
        #expect(try await pull() == "1.1.0")
        offer(["1.0.0"], top: #""serial": 4,"#)
        #expect(await HubLab.code { _ = try await pull() } == "catalog-rollback")
        #expect(try await manager().availability(of: try #require(Family("toy"))).identity?.version.name == "1.1.0")
    }

    @Test func originsAreAskedAtOnceAndReportedInTheirOrder() async throws {
        let names = ["a", "b", "c"]
        let http = WaitingClient(count: names.count)
        let manager = ModelManager(
            home: folder.path("home"),
            origins: try names.map {
                Origin(name: $0, manifestURL: try #require(URL(string: "https://\($0).example/models.json")))
            }, http: http, network: UnmonitoredNetwork(), deviceMemory: 8 << 30)
        let reports = try await manager.reports()
        #expect(reports.map(\.source) == names)
        #expect(reports.allSatisfy { $0.listing != nil }, "no request waits for the answer to another")
    }
}

/// Answers its requests once so many are under way, the last one first.
private struct WaitingClient: HTTPClient {
    let count: Int
    private let begun = Locked(0)
    private let ended = Locked(0)

    init(count: Int) { self.count = count }

    func execute(_ request: HTTPRequest) async throws -> HTTPResponse {
        let place = begun.withLock { begun in
            begun += 1
            return begun
        }
        for _ in 0..<1000 where ended.withLock({ $0 }) != count - place || begun.withLock({ $0 }) < count {
            try await Task.sleep(for: .milliseconds(10))
        }
        ended.withLock { $0 += 1 }
        guard begun.withLock({ $0 }) == count else { throw HTTPError(.timedOut, "no other request came") }
        let body = #"{"schemaVersion": 1, "models": []}"#
        return HTTPResponse(status: 200, headers: [:], url: request.url, body: HTTPBody(Array(body.utf8)))
    }
}
