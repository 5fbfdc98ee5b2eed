import Foundation
import HearthBase
import HearthHTTP
import HearthTestSupport
import Testing

@testable import HearthCatalog
@testable import HearthDelivery
@testable import HearthStore
@testable import HearthTransfer

/// What the Hub's own client has fetched before.
@Suite(.timeLimit(.minutes(10))) struct HubCacheTests {
    private let lab: HubLab
    private let large = Content.pattern(offset: 2, count: 90_000)
    private let files: [String: TestHub.File]

    init() throws {
        lab = try HubLab()
        files = ["config.json": .small("{}"), "model.safetensors": .large(large)]
        lab.hub.publish("Org/m", files)
    }

    private var cache: Path { lab.folder.path("cache") }
    private var blobs: String { "cache/models--Org--m/blobs/" }
    private var largeName: String { blobs + SHA256Digest(hashing: large.bytes).hex }
    private var smallName: String { blobs + GitBlobID(hashing: Array("{}".utf8)).hex }

    private func pull() async throws -> (InstalledRelease, fetched: UInt64) {
        let outcome = try await lab.manager(cache: cache).pull(try ModelReference(parsing: "hf:Org/m"))
        guard case .installed(let release, let fetched) = outcome else { return (outcome.release, 0) }
        #expect(try HubLab.tree(release.folder, except: ["receipt.json"]) == files.mapValues { Data($0.content.bytes) })
        return (release, fetched)
    }

    @Test func isTakenAfterItWasHashed() async throws {
        let path = try lab.folder.write(largeName, large.bytes)
        try lab.folder.write(smallName, Data("{}".utf8))
        let before = try LocalFileSystem().status(at: path)
        let (release, fetched) = try await pull()
        #expect(fetched == 0)
        #expect(release.receipt.isVerified)
        #expect(!lab.hub.requests.contains { $0.path.contains("/resolve/") && !$0.path.hasSuffix("/config.json") })
        #expect(try LocalFileSystem().status(at: path) == before, "the cache is somebody else's, and stays as it is")
        let weights = try #require(release.weights)
        #expect(try LocalFileSystem().status(at: weights)?.identity != before?.identity, "copied, never linked")
        try LocalFileSystem().removeTree(cache)
        #expect(try await lab.manager().store.verify(release.identity).isIntact)
    }

    @Test func isFetchedWhereItIsNotWhatItsNameSays() async throws {
        try lab.folder.write(largeName, Data(repeating: 1, count: Int(large.count)))
        try lab.folder.write(smallName, Data("[]".utf8))
        #expect(try await pull().fetched == large.count + 2)
    }

    @Test func strangeThingsAtItsPlaceAreLeftAlone() async throws {
        let path = lab.folder.path(largeName)
        try LocalFileSystem().makeFolders(path.parent)
        #expect(mkfifo(path.string, 0o600) == 0)
        try LocalFileSystem().makeFolders(lab.folder.path(smallName))
        #expect(try await pull().fetched == large.count + 2)
    }

    @Test func linksOfTheCacheAreFollowed() async throws {
        let store = try lab.folder.write("elsewhere", large.bytes)
        let path = lab.folder.path(largeName)
        try LocalFileSystem().makeFolders(path.parent)
        try LocalFileSystem().makeLink(at: path, to: store.string)
        #expect(try await pull().fetched == 2)
    }

    /// What was taken from here is mended from where it would have come, also where a receipt of an earlier version does not
    /// say from where that is. Only then is the hub asked for more than the files.
    @Test(arguments: [true, false]) func whatCameFromHereIsMendedFromTheHub(isSourceKnown: Bool) async throws {
        try lab.folder.write(largeName, large.bytes)
        try lab.folder.write(smallName, Data("{}".utf8))
        let release = try await pull().0
        try LocalFileSystem().removeTree(cache)
        for name in ["config.json", "model.safetensors"] {
            try Data("damaged".utf8).write(to: Path(release.folder.string + "/" + name).url)
        }
        let receipt = HomeLayout.receipt(in: release.folder)
        if !isSourceKnown {
            let text = try String(contentsOf: receipt.url, encoding: .utf8)
            let without = text.replacing(/,\s*"url"\s*:\s*"[^"]*"/, with: "")
            #expect(without != text)
            try Data(without.utf8).write(to: receipt.url)
        }
        let manager = try lab.manager()
        let before = lab.hub.server.requests.count
        let report = try await manager.repair(release.identity)
        #expect(report.repaired.map(\.string) == ["config.json", "model.safetensors"])
        #expect(report.fetchedBytes == large.count + 2)
        #expect(try await manager.store.verify(release.identity).isIntact)
        let facts = lab.hub.server.requests.dropFirst(before).filter { !$0.path.contains("/resolve/") }
        #expect(facts.isEmpty == isSourceKnown)
        #expect(!facts.contains { $0.path.hasPrefix("/Org/m/tree") }, "a page for people is no manifest")
    }

    @Test(
        arguments: [
            (["HF_HUB_CACHE": "/c", "HF_HOME": "/h", "HOME": "/u"], "/c"), (["HF_HOME": "/h", "HOME": "/u"], "/h/hub"),
            (["XDG_CACHE_HOME": "/x", "HOME": "/u"], "/x/huggingface/hub"),
            (["HOME": "/u"], "/u/.cache/huggingface/hub"),
            (["HF_HUB_CACHE": "~/c", "HOME": "/u"], "/u/c"), (["HF_HUB_CACHE": "relative", "HOME": "/u"], nil),
            ([:], nil),
            (["HF_HUB_CACHE": "", "HF_HOME": "", "HOME": "/u"], "/u/.cache/huggingface/hub"),
        ] as [([String: String], String?)])
    func itsFolderIsWhereTheClientPutsIt(_ environment: [String: String], _ folder: String?) throws {
        #expect(try HubSettings(environment: environment).cacheFolder?.string == folder)
    }
}
