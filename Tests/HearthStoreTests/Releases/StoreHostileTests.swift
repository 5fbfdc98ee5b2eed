import Foundation
import HearthBase
import HearthTestSupport
import Testing

@testable import HearthCatalog
@testable import HearthStore

/// A home in which somebody else has been at work.
@Suite(.timeLimit(.minutes(10))) struct StoreHostileTests {
    static let digest = String(repeating: "ab", count: 32)

    static func receipt(
        family: String = #""tiny""#, version: String = #""1.0.0""#, files: String? = nil, more: String = "",
        installed: String = #""2026-11-21T10:00:00Z""#, schema: String = "1"
    ) -> String {
        let files = files ?? #"[{"path":"weights.gguf","role":"weights","sizeBytes":1,"sha256":"\#(digest)"}]"#
        return #"""
            {"schemaVersion":\#(schema),"family":\#(family),"version":\#(version),"variant":"q4","role":"text",
             "format":"gguf","files":\#(files),"manifestEntry":"x","installed":\#(installed),"verified":true\#(more)}
            """#
    }

    static func file(path: String = "weights.gguf", size: String = "1", digest: String = digest) -> String {
        #"[{"path":"\#(path)","role":"weights","sizeBytes":\#(size),"sha256":"\#(digest)"}]"#
    }

    @Test func theReceiptTheOthersAreMadeFromIsGood() throws {
        let receipt = try Receipt(data: Data(Self.receipt().utf8))
        #expect(receipt.identity == (try StoreFixture.identity()))
        #expect(try Receipt(data: try receipt.data()) == receipt)
        let later = Self.receipt(
            files: #"[{"path":"a","role":"hologram","sizeBytes":1,"sha256":"\#(Self.digest)"}]"#, more: #","new":[1]"#)
        #expect(try Receipt(data: Data(later.utf8)).files.first?.role == .other)
    }

    static let receipts: [String] = [
        "", "{", "[]", "null", "\u{0}", String(repeating: "[", count: 100_000), receipt(family: #""../../etc""#),
        receipt(family: #""""#), receipt(family: "7"), receipt(version: #""..""#), receipt(version: #""a/b""#),
        receipt(version: #""9.9.9""#), receipt(family: #""other""#), receipt(files: "[]"), receipt(files: "{}"),
        receipt(files: file(path: "../../../etc/passwd")), receipt(files: file(path: "/etc/passwd")),
        receipt(files: file(path: "..")), receipt(files: file(path: "")), receipt(files: file(path: "a/../../b")),
        receipt(files: file(path: "a//b")), receipt(files: file(path: "receipt.json/b")),
        receipt(files: file(path: "a\\u0000b")), receipt(files: file(path: "receipt.json")),
        receipt(files: file(path: ".x.tmp-1")), receipt(files: file(size: "-1")), receipt(files: file(size: "1e300")),
        receipt(files: file(size: "1.5")), receipt(files: file(size: "18446744073709551616")),
        receipt(files: file(digest: "abc")), receipt(files: file(digest: "zz")),
        receipt(
            files: #"[{"path":"a","role":"other","sizeBytes":1,"sha256":"\#(digest)"},"#
                + #"{"path":"A","role":"other","sizeBytes":1,"sha256":"\#(digest)"}]"#),
        receipt(
            files: #"[{"path":"a","role":"other","sizeBytes":1,"sha256":"\#(digest)"},"#
                + #"{"path":"a/b","role":"other","sizeBytes":1,"sha256":"\#(digest)"}]"#),
        receipt(installed: #""yesterday""#), receipt(installed: "1"), receipt(schema: "2"), receipt(schema: #""1""#),
        receipt(more: #","contextLength":-5"#), receipt(more: #","contextLength":1e99"#),
    ]

    @Test(arguments: receipts.indices)
    func aHostileReceiptIsAFinding(_ index: Int) async throws {
        let fixture = try StoreFixture()
        let (one, two) = (try StoreFixture.identity(), try StoreFixture.identity("2.0.0"))
        let folder = try await fixture.install(one).folder
        try await fixture.install(two, activate: true)
        try Data(Self.receipts[index].utf8).write(to: folder.appending("receipt.json").url)
        let inventory = try await fixture.store.inventory()
        #expect(inventory.releases.map(\.identity) == [two])
        #expect(inventory.damaged.map(\.identity) == [one])
        #expect(inventory.damaged.map(\.problem.code) == [.receiptDamaged])
        #expect(await code { try await fixture.store.installed(one) } == "receipt-damaged")
        #expect(await code { try await fixture.store.activate(one) } == "receipt-damaged")
        #expect(await code { try await fixture.store.verify(one) } == "receipt-damaged")
        #expect(try await fixture.store.active(one.family)?.identity == two)
    }

    @Test func sizesThatOverflowTogetherAreNoCrash() async throws {
        let text = Self.receipt(
            files: #"[{"path":"a","role":"weights","sizeBytes":18446744073709551615,"sha256":"\#(Self.digest)"},"#
                + #"{"path":"b","role":"other","sizeBytes":18446744073709551615,"sha256":"\#(Self.digest)"}]"#)
        #expect(try Receipt(data: Data(text.utf8)).totalSize == .max)
        let fixture = try StoreFixture()
        let identity = try StoreFixture.identity()
        let folder = try await fixture.install(identity).folder
        try Data(text.utf8).write(to: folder.appending("receipt.json").url)
        #expect(try await fixture.store.verify(identity).files.map(\.outcome) == [.missing, .missing])
    }

    /// A link in a sub-folder's place could lead to anybody's file of the right size.
    @Test func aLinkInPlaceOfASubfolderIsNotFollowed() async throws {
        let fixture = try StoreFixture()
        let identity = try StoreFixture.identity()
        let folder = try await fixture.install(identity, names: ["weights.gguf", "a/b/mmproj.gguf"]).folder
        #expect(try await fixture.store.installed(identity) != nil)
        let disk = LocalFileSystem()
        try disk.rename(folder.appending("a"), to: fixture.folder.path("elsewhere"))
        try disk.makeLink(at: folder.appending("a"), to: fixture.folder.path("elsewhere").string)
        #expect(await code { try await fixture.store.installed(identity) } == "release-damaged")
        let report = try await fixture.store.verify(identity)
        #expect(report.files.map(\.outcome).contains(.missing) && report.unexpected == ["a"])
        try await fixture.store.remove(identity.family, version: nil, variant: nil)
        #expect(try fixture.exists(fixture.folder.path("elsewhere").appending("b")))
    }

    @Test func aReceiptThatIsNoSmallFileIsNotRead() async throws {
        let fixture = try StoreFixture()
        let identity = try StoreFixture.identity()
        let receipt = HomeLayout.receipt(in: try await fixture.install(identity).folder)
        let disk = LocalFileSystem()
        let kinds: [() throws -> Void] = [
            { try disk.makeLink(at: receipt, to: "/dev/zero") },
            { try disk.makeFolder(receipt, permissions: 0o755) },
            { #expect(mkfifo(receipt.string, 0o644) == 0) },
            { try disk.truncate(try disk.open(receipt, .readWrite), to: 1 << 40) },
        ]
        for make in kinds {
            try disk.removeTree(receipt)
            try make()
            #expect(await code { try await fixture.store.installed(identity) } == "receipt-damaged")
        }
    }

    @Test(arguments: [
        "../../etc", "/etc", "..", ".", "", "1.0.0~q4/../../../secret", "active", "state.json", "9.9.9", "./1.0.0~q4",
        ".1.0.0~q4.tmp-x", "evil",
    ])
    func aLinkThatLeadsElsewhereIsNotFollowed(_ target: String) async throws {
        let fixture = try StoreFixture()
        let identity = try StoreFixture.identity()
        try await fixture.install(identity, activate: true)
        let link = fixture.layout.activeLink(of: identity.family)
        let disk = LocalFileSystem()
        // A link that would pass by its name, to a folder outside.
        try disk.makeLink(at: link.parent.joined("evil"), to: "/etc")
        try disk.removeFile(link)
        if !target.isEmpty { try disk.makeLink(at: link, to: target) } else { try Data().write(to: link.url) }
        // The record still knows.
        #expect(try await fixture.store.active(identity.family)?.identity == identity)
        #expect(try await fixture.store.installed().map(\.identity) == [identity])
        // Without the record there is none.
        try disk.removeFile(fixture.layout.stateFile(of: identity.family))
        #expect(try await fixture.anotherStore().active(identity.family) == nil)
        #expect(try await fixture.store.activate(identity).isActive)
        #expect(try disk.readLink(link) == "1.0.0~q4")
    }

    @Test func aFolderInTheLinksPlaceIsSaid() async throws {
        let fixture = try StoreFixture()
        let identity = try StoreFixture.identity()
        try await fixture.install(identity)
        try LocalFileSystem().makeFolder(fixture.layout.activeLink(of: identity.family), permissions: 0o755)
        #expect(await code { try await fixture.store.activate(identity) } == "home-unusable")
        #expect(try await fixture.store.active(identity.family) == nil)
    }

    @Test(arguments: ["", "{", #"{"schemaVersion":1,"active":"../../etc"}"#, #"{"schemaVersion":9}"#])
    func aDamagedRecordFallsBackToTheLink(_ text: String) async throws {
        let fixture = try StoreFixture()
        let identity = try StoreFixture.identity()
        try await fixture.install(identity, activate: true)
        try Data(text.utf8).write(to: fixture.layout.stateFile(of: identity.family).url)
        #expect(try await fixture.anotherStore().active(identity.family)?.identity == identity)
        #expect(try await fixture.anotherStore().state(of: identity.family) == ReleaseState(active: identity))
    }

    @Test func strangeNamesAndLinksAreNoReleases() async throws {
        let fixture = try StoreFixture()
        let identity = try StoreFixture.identity()
        let folder = try await fixture.install(identity).folder
        let disk = LocalFileSystem()
        for name in ["UPPER", "-x", "a b", "x~Y", "1~q~r", ".hidden", "état"] {
            try disk.makeFolders(fixture.layout.models.joined(name))
            try disk.makeFolders(folder.parent.joined(name + "~Q!"))
        }
        try disk.makeLink(at: fixture.layout.models.joined("linked"), to: "tiny")
        try disk.makeLink(at: folder.parent.joined("3.0.0"), to: "1.0.0~q4")
        try Data().write(to: fixture.layout.models.joined("file").url)
        let inventory = try await fixture.anotherStore().inventory()
        #expect(inventory.releases.map(\.identity) == [identity])
        #expect(inventory.damaged.isEmpty)
        let linked = try StoreFixture.identity(family: "linked")
        #expect(await code { try await fixture.install(linked) } == "home-unusable")
        #expect(try await fixture.store.installed(linked) == nil)
        #expect(
            await code { try await fixture.store.remove(linked.family, version: nil, variant: nil) }
                == "not-installed")
        #expect(try fixture.exists(folder))
    }

    @Test(arguments: [
        ("1\n", "home-too-old"), ("3\n", "home-too-new"), ("99999999999", "home-too-new"), ("", "home-unusable"),
        ("0", "home-unusable"),
        ("-1", "home-unusable"), ("one", "home-unusable"), (String(repeating: "9", count: 40), "home-unusable"),
    ])
    func aHomeOfAnotherLayoutIsLeftAlone(_ text: String, _ expected: String) async throws {
        let fixture = try StoreFixture()
        let identity = try StoreFixture.identity()
        try await fixture.install(identity, activate: true)
        try Data(text.utf8).write(to: fixture.layout.versionFile.url)
        let store = fixture.anotherStore()
        #expect(await code { try await store.prepare() } == expected)
        #expect(await code { try await store.installed() } == expected)
        #expect(await code { try await store.activate(identity) } == expected)
        #expect(await code { try await store.remove(identity.family, version: nil, variant: nil) } == expected)
        #expect(try fixture.text(fixture.layout.versionFile) == text)
    }

    @Test func aHomeBelowAFileIsSaid() async throws {
        let folder = try TemporaryFolder()
        let file = try folder.write("file", Data())
        for home in [file, file.appending("home"), file.appending("deep").appending("home")] {
            let store = ModelStore(home: home, time: HurriedClock().time)
            #expect(await code { try await store.prepare() } == "not-a-folder")
            #expect(await code { try await store.installed() } == "not-a-folder")
        }
    }

    @Test func aHomeThatCanOnlyBeReadIsStillGoodForReading() async throws {
        let disk = FaultyFileSystem()
        let fixture = try StoreFixture(fileSystem: disk)
        let identity = try StoreFixture.identity()
        try await fixture.install(identity, activate: true)
        disk.fail(call: 1, errno: EROFS, stays: true)
        let store = fixture.anotherStore()
        #expect(try await store.active(identity.family)?.weights?.lastComponent == "weights.gguf")
        #expect(try await store.installed().count == 1)
        #expect(await code { try await store.remove(identity.family, version: nil, variant: nil) } == "read-only")
        let fresh = ModelStore(home: fixture.folder.path("other"), fileSystem: disk, time: fixture.time)
        #expect(await code { try await fresh.prepare() } == "read-only")
    }
}
