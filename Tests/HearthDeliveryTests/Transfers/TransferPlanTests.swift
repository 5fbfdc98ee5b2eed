import Foundation
import HearthBase
import HearthHTTP
import HearthTestSupport
import Testing

@testable import HearthCatalog
@testable import HearthDelivery
@testable import HearthStore
@testable import HearthTransfer

/// What is written down of a transfer, and what a stranger could have written there.
@Suite struct TransferPlanTests {
    private let folder: TemporaryFolder
    private let disk = LocalFileSystem()

    init() throws { folder = try TemporaryFolder() }

    private var transfers: Path { folder.path("transfers") }
    private func place(_ key: String) -> Path { Path("\(transfers)/\(key)") }

    private static let digest = SHA256Digest(hashing: [UInt8]("toy".utf8))

    private func request(_ address: String) throws -> TransferRequest {
        TransferRequest(
            label: "toy-v1.0.0-q4_1.gguf", locations: [try #require(URL(string: address))], size: .exact(1000),
            digest: Self.digest)
    }

    private func release() throws -> ReleaseIdentity {
        ReleaseIdentity(
            family: try #require(Family("toy")), version: ReleaseVersion(SemanticVersion(1, 0, 0)),
            variant: Variant("q4_1"))
    }

    private func manager() -> TransferManager {
        let clock = ManualClock()
        return TransferManager(
            transfer: FileTransfer(
                http: CurlHTTPClient(), fileSystem: disk, time: clock.time, folder: transfers),
            folder: transfers, fileSystem: disk, time: clock.time)
    }

    private func leave(_ plan: Data, at key: String) throws {
        try disk.makeFolders(place(key))
        try disk.replaceContents(of: Path("\(place(key))/plan.json"), with: plan)
    }

    @Test func itIsReadAsItWasWrittenAndHoldsNoSecret() throws {
        let source = try #require(URL(string: "https://user:password@models.example.org/models.json?key=secret"))
        let request = try request("https://user:password@cdn.example.org/toy.gguf?signature=secret")
        let tag = TransferPurpose(release: try release(), source: source, activates: false).tag
        let plan = TransferPlan(request, tag: tag, at: Date())
        let data = try plan.data()
        let text = String(decoding: data, as: UTF8.self)
        #expect(!text.contains("secret") && !text.contains("password"))
        #expect(text.contains("https://models.example.org/models.json#toy@1.0.0:q4_1"))
        #expect(try TransferPlan(data: data) == plan)
    }

    @Test func aFileOfOnesOwnIsItsOwnReference() throws {
        let path = folder.path("toy-v1.0.0-q4_1.gguf")
        let plan = TransferPlan(
            try request("https://cdn.example.org/toy.gguf"),
            tag: TransferPurpose(release: try release(), source: path.url).tag, at: Date())
        #expect(plan.reference == .file(path))
        #expect(try TransferPlan(data: plan.data()) == plan)
    }

    /// A good plan with one member replaced.
    private func plan(_ name: String, _ value: String) throws -> Data {
        let source = try #require(URL(string: "https://models.example.org/models.json"))
        let good = TransferPlan(
            try request("https://cdn.example.org/toy.gguf"),
            tag: TransferPurpose(release: try release(), source: source).tag, at: Date())
        guard case .object(var members) = try JSONValue(parsing: try good.data()) else { return Data() }
        #expect(members[name] != nil, "there is no \(name)")
        members[name] = try JSONValue(parsing: Data(value.utf8))
        return JSONValue.object(members).data
    }

    static let hostile: [(String, String)] = [
        ("format", "1"), ("format", "-1"), ("format", "\"2\""), ("label", #""../../etc/passwd""#),
        ("label", #""a/../b""#),
        ("label", #""""#), ("label", "7"), ("label", #""\u0000""#), ("label", #""\u202Egnp.fugg""#),
        ("locations", #""https://x""#), ("locations", "[1]"), ("sizeBytes", "-1"), ("sizeBytes", "1e400"),
        ("sizeBytes", "18446744073709551615"), ("sizeBytes", "[]"), ("sha256", #""abc""#), ("sha256", "{}"),
        ("tag", "7"), ("tag", "[]"), ("tag", "\"\(String(repeating: "x", count: TransferPlan.tagLimit + 1))\""),
        ("created", #""yesterday""#), ("created", "1"), ("paused", #""true""#), ("paused", "null"),
    ]

    private static func tag(
        _ reference: String, release: String = #"{"family":"toy","variant":"q4_1","version":"1.0.0"}"#
    ) -> String {
        #"{"activate":true,"named":true,"reference":"\#(reference)","release":\#(release)}"#
    }

    static let hostileTags = [
        "", "{}", "null", tag("http://evil.example.org/models.json#toy@1.0.0:q4_1"),
        tag("https://models.example.org/models.json"), tag("https://models.example.org/models.json#other@1.0.0:q4_1"),
        tag("https://models.example.org/models.json#toy@2.0.0:q4_1"), tag("toy@1.0.0"), tag("hf:org/repo"),
        tag("https://models.example.org/models.json#toy@1.0.0", release: #"{"family":"../x","version":"1.0.0"}"#),
        tag("https://models.example.org/models.json#toy@1.0.0", release: #"{"family":"toy","version":"../1"}"#),
    ]

    @Test(arguments: hostileTags)
    func aHostileTagLeadsToNoModel(_ tag: String) throws {
        let plan = TransferPlan(try request("https://cdn.example.org/toy.gguf"), tag: tag, at: Date())
        #expect(try TransferPlan(data: plan.data()).tag == tag)
        #expect(plan.purpose == nil && plan.release == nil && plan.reference == nil)
    }

    @Test func aTagLeadsBackToItsModel() throws {
        let tag = Self.tag("https://models.example.org/models.json#toy@1.0.0:q4_1")
        let purpose = try #require(TransferPurpose(tag: tag))
        #expect(purpose.release == (try release()) && purpose.activates && purpose.isNamed)
        #expect(purpose.tag == tag)
        let hub = try ModelReference(parsing: "hf:org/toy")
        guard case .hub(let repository) = hub, let family = repository.family else {
            Issue.record("no repository")
            return
        }
        let other = TransferPurpose(
            release: ReleaseIdentity(family: family, version: purpose.release.version), source: nil,
            repository: .hub(repository))
        #expect(TransferPurpose(tag: try #require(other.tag)) == other)
    }

    @Test(arguments: hostile)
    func aHostilePlanIsShownAndCanBeRemoved(_ name: String, _ value: String) async throws {
        try leave(try plan(name, value), at: Self.digest.hex)
        try await expectOrphan()
    }

    @Test(arguments: [
        Data(), Data("{".utf8), Data("null".utf8), Data("[]".utf8), Data(repeating: 0xFF, count: 100),
        Data(repeating: UInt8(ascii: "["), count: 60_000), Data(repeating: UInt8(ascii: " "), count: 1 << 20),
    ])
    func aPlanThatIsNoneIsShownAndCanBeRemoved(_ data: Data) async throws {
        try leave(data, at: Self.digest.hex)
        try await expectOrphan()
    }

    @Test func aLinkOrAFolderIsNoPlan() async throws {
        let outside = folder.path("outside.json")
        try disk.replaceContents(of: outside, with: try plan("paused", "true"))
        try disk.makeFolders(place(Self.digest.hex))
        try disk.makeLink(at: Path("\(place(Self.digest.hex))/plan.json"), to: outside.string)
        try await expectOrphan()
        #expect(try disk.status(at: outside) != nil)
        try disk.makeFolders(Path("\(place(Self.digest.hex))/plan.json"))
        try await expectOrphan()
    }

    private func expectOrphan() async throws {
        let manager = manager()
        let list = try await manager.list()
        #expect(list.map(\.state.word) == ["orphaned"])
        #expect(try await manager.restore { _ in Issue.record("nobody can know what it is") }.isEmpty)
        let key = try #require(list.first?.key)
        let error = await #expect(throws: TransferError.self) { try await manager.pause(key) }
        #expect(error?.code == .notResumable)
        try await manager.cancel(key)
        #expect(try disk.contents(of: transfers) == [])
    }

    @Test func strangeThingsBesideTransfersDoNoHarm() async throws {
        try disk.makeFolders(transfers)
        try disk.replaceContents(of: Path("\(transfers)/file"), with: Data("x".utf8))
        try disk.makeLink(at: Path("\(transfers)/link"), to: "/")
        try disk.makeFolder(Path("\(transfers)/bad\u{7}name"), permissions: 0o755)
        try disk.makeFolder(Path("\(transfers)/.removed.tmp-x"), permissions: 0o755)
        let manager = manager()
        #expect(try await manager.list().map(\.key.name) == [".removed.tmp-x"])
        #expect(try await manager.clean(onlyOrphans: false).count == 1)
        #expect(try disk.contents(of: transfers) == ["bad\u{7}name", "file", "link"])
    }

    @Test func oneIsFoundByWhatPeopleCallIt() throws {
        func summary(_ key: String, _ label: String, _ family: String) throws -> TransferSummary {
            let release = ReleaseIdentity(
                family: try #require(Family(family)), version: ReleaseVersion(SemanticVersion(1, 0, 0)))
            var plan = TransferPlan(
                try request("https://x.example.org/a"), tag: TransferPurpose(release: release, source: nil).tag,
                at: Date())
            plan.label = label
            return TransferSummary(
                key: try #require(TransferKey(key)), state: .interrupted, plan: plan, recordedBytes: 0,
                allocatedBytes: 0, totalBytes: nil, changed: nil)
        }
        let all = [
            try summary("aaaa1", "one.gguf", "one"), try summary("aaaa2", "projector.gguf", "one"),
            try summary("bbbb1", "two.gguf", "two"), try summary("bbbb", "three.gguf", "three"),
            try summary("cccc1", "projector.gguf", "four"),
        ]
        func keys(_ text: String) throws -> [String] { try all.matching(text).map(\.key.name) }
        #expect(try keys("one") == ["aaaa1", "aaaa2"], "all of a family")
        #expect(try keys("two.gguf") == ["bbbb1"])
        #expect(try keys("bbbb") == ["bbbb"], "the key itself is never ambiguous")
        #expect(try keys("aaaa2") == ["aaaa2"])
        #expect(try keys("cccc") == ["cccc1"])
        for (text, code) in [
            ("aaaa", "ambiguous-transfer"), ("projector.gguf", "ambiguous-transfer"), ("ccc", "unknown-transfer"),
            ("", "unknown-transfer"), ("zzzz", "unknown-transfer"),
        ] {
            let error = #expect(throws: TransferError.self) { try all.matching(text) }
            #expect(error?.codeText == code)
        }
    }
}
