import Foundation
import HearthBase
import HearthHTTP
import HearthTestSupport
import Testing

@testable import HearthCatalog
@testable import HearthDelivery
@testable import HearthStore
@testable import HearthTransfer

/// How new an origin's list is, and what stands in for one that does not answer.
@Suite(.timeLimit(.minutes(10))) struct OriginSourceTests {
    private func isCached(_ listing: CatalogListing) -> Bool {
        if case .cached = listing.freshness { true } else { false }
    }

    private func isFresh(_ listing: CatalogListing) -> Bool {
        if case .fresh = listing.freshness { true } else { false }
    }

    @Test func isGoodForAnHour() async throws {
        let lab = try SourceLab()
        #expect(try await lab.listing().freshness == .fetched)
        let start = lab.clock.time.now
        lab.clock.advance(by: .seconds(3599))
        #expect(try await lab.listing().freshness == .fresh(since: start))
        #expect(lab.http.requests.count == 1)
        lab.clock.advance(by: .seconds(1))
        #expect(try await lab.listing().freshness == .fetched)
        #expect(lab.http.requests.count == 2)
        #expect(try await lab.listing(.now).freshness == .fetched)
        #expect(lab.http.requests.count == 3)
    }

    @Test(arguments: [
        ("no-cache", true), ("no-store", true), ("No-Store", true), ("public, no-cache=\"x\"", true),
        ("no-cache, no-store", true), ("max-age=0", true), ("private,max-age=0", true), ("max-age=60", false),
        ("public", false), ("", false), ("max-age=00", false), ("x-no-cache", false), (nil, false),
    ])
    func theServerMayWantToBeAskedEveryTime(_ control: String?, _ everyTime: Bool) async throws {
        let lab = try SourceLab(.manifest(control: control, tag: "\"a\""))
        _ = try await lab.listing()
        lab.http.answer(.status(304))
        #expect(try await lab.listing().freshness == (everyTime ? .revalidated : .fresh(since: lab.clock.time.now)))
        // What may not be kept is kept all the same for when there is no network.
        lab.http.answer(.offline)
        lab.clock.advance(by: .seconds(7200))
        #expect(isCached(try await lab.listing()))
    }

    @Test func asksWithTheValidatorsOfTheLastAnswer() async throws {
        let lab = try SourceLab(
            .manifest(control: "no-cache", tag: "W/\"a\"", modified: "Sat, 21 Nov 2026 00:00:00 GMT"))
        _ = try await lab.listing()
        #expect(lab.http.requests[0].headers["If-None-Match"] == nil)
        #expect(lab.http.requests[0].totalTimeout == .seconds(10))
        lab.http.answer(.status(304, headers: ["Cache-Control": "max-age=600"]))
        let listing = try await lab.listing()
        #expect(listing.freshness == .revalidated)
        #expect(lab.version(listing) == "1.0.0")
        #expect(lab.http.requests[1].headers["If-None-Match"] == "W/\"a\"")
        #expect(lab.http.requests[1].headers["If-Modified-Since"] == "Sat, 21 Nov 2026 00:00:00 GMT")
        #expect(isFresh(try await lab.listing()), "a 304 may change for how long it is good")
        lab.http.answer(.manifest("2.0.0", tag: "\"b\""))
        #expect(lab.version(try await lab.listing(.now)) == "2.0.0")
        lab.http.answer(.status(304))
        #expect(lab.version(try await lab.listing(.now)) == "2.0.0")
        #expect(lab.http.requests.last?.headers["If-None-Match"] == "\"b\"")
    }

    @Test func aNotModifiedNobodyAskedForIsRefused() async throws {
        let lab = try SourceLab(.status(304))
        await #expect(throws: CatalogError.self) { try await lab.listing() }
    }

    @Test(arguments: [
        ScriptedOrigin.Answer.offline, .portal, .status(500), .status(503), .status(429),
        .init(failure: HTTPError(.tlsFailure, "no")), .init(failure: HTTPError(.insecureRedirect, "no")),
        .init(failure: HTTPError(.tooManyRedirects, "no")),
    ])
    func theCopyStandsInForAnOriginThatDoesNotAnswer(_ silence: ScriptedOrigin.Answer) async throws {
        let lab = try SourceLab(silence)
        #expect(await HubLab.code { _ = try await lab.listing() } != nil, "there is no copy yet")
        lab.http.answer(.manifest("1.0.0", control: "no-store"))
        _ = try await lab.listing()
        let since = lab.clock.time.now
        lab.clock.advance(by: .seconds(86400))
        lab.http.answer(silence)
        let listing = try await lab.listing()
        guard case .cached(since: since, because: let reason) = listing.freshness else {
            Issue.record("\(listing.freshness)")
            return
        }
        #expect(!reason.contains("hidden") && !reason.contains("secret"))
        #expect(lab.version(listing) == "1.0.0")
        let address = listing.catalog.releases.first?.file.locations.first?.absoluteString
        #expect(address == "https://h.example/files/m.gguf")
    }

    @Test(arguments: [
        (ScriptedOrigin.Answer.status(404), "origin-refused"), (.status(403), "origin-refused"),
        (ScriptedOrigin.Answer(body: "{"), "manifest-invalid"), (.init(body: "GGUF"), "not-a-manifest"),
        (.init(body: #"{"schemaVersion": 2}"#), "schema-too-new"),
        (.init(failure: HTTPError(.badResponse, "no")), "bad-response"),
    ])
    func whatAnOriginSaysWronglyIsAnErrorAndTheCopyStays(_ answer: ScriptedOrigin.Answer, _ code: String) async throws {
        let lab = try SourceLab(.manifest(control: "no-cache"))
        _ = try await lab.listing()
        lab.http.answer(answer)
        #expect(await HubLab.code { _ = try await lab.listing() } == code)
        lab.http.answer(.offline)
        #expect(lab.version(try await lab.listing()) == "1.0.0")
    }

    @Test func theSerialNeverGoesDown() async throws {
        let lab = try SourceLab(.manifest("1.0.0", serial: 7, control: "no-cache"))
        _ = try await lab.listing()
        for serial in [6, 0, nil] {
            lab.http.answer(.manifest("0.9.0", serial: serial, control: "no-cache"))
            #expect(await HubLab.code { _ = try await lab.listing() } == "catalog-rollback")
        }
        lab.http.answer(.offline)
        #expect(lab.version(try await lab.listing()) == "1.0.0", "the copy stays")
        lab.http.answer(.manifest("1.0.1", serial: 7))
        #expect(lab.version(try await lab.listing()) == "1.0.1")
        lab.http.answer(.manifest("1.1.0", serial: 8))
        #expect(lab.version(try await lab.listing(.now)) == "1.1.0")
        lab.http.answer(.manifest("1.0.1", serial: 7))
        #expect(await HubLab.code { _ = try await lab.listing(.now) } == "catalog-rollback")
    }

    /// A token or a password that changes makes no other origin: its serial still counts, and the source is asked anew.
    @Test(arguments: [
        "https://me:other@h.example/models.json?token=hidden", "https://h.example/models.json?token=rotated",
        "https://h.example/models.json",
    ])
    func anotherTokenOrPasswordResetsNoSerial(_ address: String) async throws {
        let lab = try SourceLab(.manifest("1.0.0", serial: 7))
        _ = try await lab.listing()
        let url: URL = try #require(URL(string: address))
        let rotated = lab.source(url)
        lab.http.answer(.manifest("0.9.0", serial: 6))
        #expect(await HubLab.code { _ = try await rotated.listing(.asPublished) } == "catalog-rollback")
        lab.http.answer(.manifest("1.1.0", serial: 8))
        #expect(
            lab.version(try await rotated.listing(.asPublished)) == "1.1.0",
            "a cached list answers its own address only")
        lab.http.answer(.offline)
        #expect(lab.version(try await rotated.listing(.now)) == "1.1.0")
        #expect(try LocalFileSystem().contents(of: lab.catalogs).count == 1)
    }

    @Test func originsThatDifferInNameOrQueryAlone() throws {
        let url = try #require(URL(string: "https://h.example/models.json?channel=a"))
        let other = try #require(URL(string: "https://h.example/models.json?channel=b"))
        #expect(Origin(name: "a", manifestURL: url).key != Origin(name: "b", manifestURL: url).key)
        #expect(Origin(name: "a", manifestURL: url).key == Origin(name: "a", manifestURL: other).key)
        #expect(Origin(address: url).key != Origin(address: other).key, "without a name the query tells them apart")
        #expect(!Origin(address: url).name.contains("channel"))
    }

    @Test func theSerialIsKnownEvenWhereTheBytesAreLost() async throws {
        let lab = try SourceLab(.manifest("1.0.0", serial: 7))
        _ = try await lab.listing()
        for name in try LocalFileSystem().contents(of: lab.place) where name.count == 64 + 5 {
            try LocalFileSystem().removeFile(Path(lab.place.string + "/" + name))
        }
        lab.http.answer(.manifest("0.9.0", serial: 6))
        #expect(await HubLab.code { _ = try await lab.listing() } == "catalog-rollback")
    }

    @Test func anOriginWithoutSerialsMayGoAnywhere() async throws {
        let lab = try SourceLab(.manifest("2.0.0"))
        _ = try await lab.listing()
        lab.http.answer(.manifest("1.0.0"))
        #expect(lab.version(try await lab.listing(.now)) == "1.0.0")
        lab.http.answer(.manifest("1.0.0", serial: 3))
        _ = try await lab.listing(.now)
        lab.http.answer(.manifest("1.0.0"))
        #expect(
            await HubLab.code { _ = try await lab.listing(.now) } == "catalog-rollback",
            "once there was one, there is one")
    }

    @Test func nothingSecretIsWrittenDown() async throws {
        let lab = try SourceLab()
        _ = try await lab.listing()
        let home = try HubLab.tree(lab.folder.path("home"))
        #expect(home.count == 3)
        for (name, data) in home {
            #expect(!name.contains("hidden") && data.firstRange(of: Data("hidden".utf8)) == nil)
            #expect(data.firstRange(of: Data("secret".utf8)) == nil)
        }
    }

    @Test func earlierCopiesAreCleared() async throws {
        let lab = try SourceLab()
        _ = try await lab.listing()
        lab.http.answer(.manifest("2.0.0"))
        _ = try await lab.listing(.now)
        try Data("x".utf8).write(to: Path(lab.place.string + "/.record.json.tmp-1").url)
        lab.http.answer(.manifest("3.0.0"))
        _ = try await lab.listing(.now)
        let names = try LocalFileSystem().contents(of: lab.place)
        #expect(names.count == 3 && names.contains("lock") && names.contains("record.json"))
    }

    @Test func aClockThatWasSetBackMakesNoCopyGoodForEver() async throws {
        let lab = try SourceLab()
        lab.clock.advance(by: .seconds(86400 * 365))
        _ = try await lab.listing()
        let earlier = OriginSource(
            Origin(name: "test", manifestURL: lab.url), family: nil, folder: lab.catalogs,
            fetcher: CatalogFetcher(http: lab.http), fileSystem: LocalFileSystem(), time: ManualClock().time)
        #expect(try await earlier.listing(.asPublished).freshness == .fetched)
    }

    @Test func aFileIsItsOwnCopy() async throws {
        let lab = try SourceLab(.offline)
        let path = try lab.folder.write(
            "models.json", Data(ScriptedOrigin.Answer.manifest("1.0.0", serial: 5).body.utf8))
        #expect(try await lab.source(path.url).listing(.asPublished).freshness == .fetched)
        try lab.folder.write("models.json", Data(ScriptedOrigin.Answer.manifest("0.9.0", serial: 4).body.utf8))
        #expect(lab.version(try await lab.source(path.url).listing(.asPublished)) == "0.9.0")
        #expect(lab.http.requests.isEmpty)
        #expect(try LocalFileSystem().status(at: lab.catalogs) == nil)
    }

    @Test func aDiskThatKeepsNothingIsNoReasonToFail() async throws {
        var lab = try SourceLab(.manifest())
        let disk = FaultyFileSystem()
        disk.fail(call: 1, errno: ENOSPC, stays: true)
        lab.fileSystem = disk
        #expect(try await lab.listing().freshness == .fetched)
    }
}
