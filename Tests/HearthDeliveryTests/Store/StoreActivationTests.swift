import Foundation
import HearthBase
import HearthTestSupport
import Testing

@testable import HearthCatalog
@testable import HearthDelivery
@testable import HearthStore
@testable import HearthTransfer

@Suite(.timeLimit(.minutes(10))) struct StoreActivationTests {
    @Test func activatingSwitchesARelativeLinkAndRecordsTheWayBack() async throws {
        let fixture = try StoreFixture()
        let (one, two) = (try StoreFixture.identity("1.0.0"), try StoreFixture.identity("2.0.0"))
        try await fixture.install(one, activate: true)
        try await fixture.install(two, activate: true)
        let link = fixture.layout.activeLink(of: one.family)
        #expect(try LocalFileSystem().readLink(link) == "2.0.0~q4")
        let state = try await fixture.anotherStore().state(of: one.family)
        #expect(state == ReleaseState(active: two, previous: one))
        #expect(try await fixture.store.installed().map(\.isActive) == [false, true])
        #expect(try await fixture.store.active(one.family)?.identity == two)
        let weights = fixture.layout.folder(of: two).appending("weights.gguf")
        #expect(try await fixture.store.active(one.family)?.weights == weights)
        #expect(try fixture.temporaryNames().isEmpty)
    }

    @Test func onlyWhatIsInstalledAndWholeBecomesLive() async throws {
        let fixture = try StoreFixture()
        let (one, two) = (try StoreFixture.identity("1.0.0"), try StoreFixture.identity("2.0.0"))
        try await fixture.install(one, activate: true)
        #expect(await code { try await fixture.store.activate(two) } == "not-installed")
        let folder = try await fixture.install(two).folder
        try Data("short".utf8).write(to: folder.appending("weights.gguf").url)
        #expect(await code { try await fixture.store.activate(two) } == "release-damaged")
        #expect(try await fixture.store.active(one.family)?.identity == one)
    }

    @Test func nothingInstalledAndNothingActiveAreToldApart() async throws {
        let fixture = try StoreFixture()
        let identity = try StoreFixture.identity()
        #expect(try await fixture.store.active(identity.family) == nil)
        #expect(try await fixture.store.installed(identity) == nil)
        // Looking must not make a home.
        #expect(try !fixture.exists(fixture.home))
        func rollBack() async -> String? {
            await code { try await fixture.store.rollBack(identity.family, because: "bad") }
        }
        #expect(await rollBack() == "not-installed")
        try await fixture.install(identity)
        #expect(await rollBack() == "no-active-release")
    }

    @Test func releasesAreListedInOrder() async throws {
        let fixture = try StoreFixture()
        let expected = [
            try StoreFixture.identity("0abc", family: "other"), try StoreFixture.identity("1.9.0", variant: nil),
            try StoreFixture.identity("1.10.0-rc.1"), try StoreFixture.identity("1.10.0", variant: "q4"),
            try StoreFixture.identity("1.10.0", variant: "q8"),
        ]
        for identity in expected.reversed() { try await fixture.install(identity) }
        #expect(try await fixture.store.installed().map(\.identity) == expected)
    }

    @Test func aRemovalTakesEveryFileOfTheRelease() async throws {
        let fixture = try StoreFixture()
        let identity = try StoreFixture.identity()
        let installed = try await fixture.install(identity, names: ["weights.gguf", "mmproj.gguf"], activate: true)
        #expect(try fixture.exists(try #require(installed.projector)))
        let removal = try await fixture.store.remove(identity.family, version: nil, variant: nil)
        #expect(removal.removed == [identity])
        #expect(try !fixture.exists(installed.folder))
        #expect(try fixture.temporaryNames().isEmpty)
    }

    @Test func removingTheLiveReleaseBringsThePreviousOneBack() async throws {
        let fixture = try StoreFixture()
        let (one, two) = (try StoreFixture.identity("1.0.0"), try StoreFixture.identity("2.0.0"))
        try await fixture.install(one, activate: true)
        try await fixture.install(two, activate: true)
        try LocalFileSystem().makeFolders(fixture.layout.preparedFolder(of: two))
        let first = try await fixture.store.remove(two.family, version: two.version, variant: nil)
        #expect(first == Removal(removed: [two], active: .restored(one)))
        #expect(try await fixture.store.active(one.family)?.identity == one)
        #expect(try !fixture.exists(fixture.layout.preparedFolder(of: two)))
        let second = try await fixture.store.remove(one.family, version: one.version, variant: one.variant)
        #expect(second == Removal(removed: [one], active: .cleared))
        #expect(try await fixture.store.active(one.family) == nil)
        #expect(try !fixture.exists(fixture.layout.folder(of: one.family)))
    }

    @Test func aDamagedPreviousReleaseDoesNotComeBack() async throws {
        let fixture = try StoreFixture()
        let (one, two) = (try StoreFixture.identity("1.0.0"), try StoreFixture.identity("2.0.0"))
        let folder = try await fixture.install(one, activate: true).folder
        try await fixture.install(two, activate: true)
        try LocalFileSystem().removeFile(folder.appending("receipt.json"))
        let removal = try await fixture.store.remove(two.family, version: two.version, variant: nil)
        #expect(removal == Removal(removed: [two], active: .cleared))
        #expect(try await fixture.store.active(one.family) == nil)
        // What is damaged can still be removed.
        #expect(try await fixture.store.remove(one.family, version: nil, variant: nil).removed == [one])
    }

    @Test func aVersionAndAVariantSelectWhatIsRemoved() async throws {
        let fixture = try StoreFixture()
        let releases = try [("1.0.0", "q4"), ("1.0.0", "q8"), ("2.0.0", "q4"), ("2.0.0", "q8")].map {
            try StoreFixture.identity($0.0, variant: $0.1)
        }
        for release in releases { try await fixture.install(release) }
        try await fixture.store.activate(releases[3])
        let family = releases[0].family
        #expect(
            try await fixture.store.remove(family, version: releases[0].version, variant: nil)
                == Removal(removed: [releases[0], releases[1]], active: .unchanged))
        #expect(
            await code { try await fixture.store.remove(family, version: nil, variant: Variant("f16")) }
                == "not-installed")
        #expect(
            try await fixture.store.remove(family, version: nil, variant: releases[2].variant).removed == [releases[2]])
        #expect(try await fixture.store.installed().map(\.identity) == [releases[3]])
    }

    @Test func verifyTellsOfEveryFile() async throws {
        let fixture = try StoreFixture()
        let identity = try StoreFixture.identity()
        let names = ["a.gguf", "b.gguf", "c.gguf", "d.gguf", "e.gguf"]
        let installed = try await fixture.install(identity, names: names, isVerified: false)
        let readings = Locked<[(completed: UInt64, total: UInt64?)]>([])
        let whole = try await fixture.store.verify(installed) { completed, total in
            readings.withLock { $0.append((completed, total)) }
        }
        #expect(whole.isIntact)
        #expect(!whole.isVerified)
        #expect(whole.unexpected.isEmpty)
        let last = try #require(readings.withLock { $0.last })
        #expect(last.completed == last.total)

        let changed = Data("A.gguf of tiny@1.0.0:q4".utf8)
        try changed.write(to: installed.folder.appending("a.gguf").url)
        try LocalFileSystem().removeFile(installed.folder.appending("b.gguf"))
        try Data("c".utf8).write(to: installed.folder.appending("c.gguf").url)
        try LocalFileSystem().removeFile(installed.folder.appending("d.gguf"))
        try LocalFileSystem().makeLink(at: installed.folder.appending("d.gguf"), to: "e.gguf")
        try Data("x".utf8).write(to: installed.folder.appending("extra").url)
        let report = try await fixture.store.verify(installed)
        #expect(
            report.files.map(\.outcome) == [
                .changed(SHA256Digest(hashing: changed)), .missing, .wrongSize(1), .notAFile, .intact,
            ])
        #expect(report.unexpected == ["extra"])
        #expect(!report.isIntact)
    }

    @Test func verifyNeedsAReceipt() async throws {
        let fixture = try StoreFixture()
        let identity = try StoreFixture.identity()
        #expect(await code { try await fixture.store.verify(identity) } == "not-installed")
        let folder = try await fixture.install(identity).folder
        try LocalFileSystem().removeFile(folder.appending("receipt.json"))
        #expect(await code { try await fixture.store.verify(identity) } == "receipt-damaged")
    }
}
