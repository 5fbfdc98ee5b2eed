import Foundation
import HearthBase
import HearthHTTP
import HearthTestSupport
import Testing

@testable import HearthCatalog
@testable import HearthDelivery
@testable import HearthStore
@testable import HearthTransfer

@Suite(.timeLimit(.minutes(10))) struct CollectionTests {
    private func manager(_ fixture: StoreFixture) -> ModelManager {
        ModelManager(
            home: fixture.home, origins: [], time: fixture.time, network: UnmonitoredNetwork(), deviceMemory: 1 << 40)
    }

    private func versions(_ fixture: StoreFixture) async throws -> [String] {
        try await fixture.anotherStore().installed().map(\.identity.version.name)
    }

    @Test func afterACommittedActivationOlderOnesGo() async throws {
        let fixture = try StoreFixture()
        for version in ["1.0.0", "1.1.0", "1.2.0", "1.3.0"] {
            try await fixture.install(try StoreFixture.identity(version), activate: true)
        }
        let family = try StoreFixture.identity().family
        let gone = try await fixture.store.collectSuperseded(family)
        #expect(gone.map(\.version.name) == ["1.0.0", "1.1.0"])
        #expect(try await versions(fixture) == ["1.2.0", "1.3.0"])
        #expect(try await fixture.store.state(of: family).previous?.version.name == "1.2.0")
        #expect(try await fixture.store.collectSuperseded(family).isEmpty)
    }

    @Test func whatAProcessReadsIsNotRemoved() async throws {
        let fixture = try StoreFixture()
        for version in ["1.0.0", "1.1.0", "1.2.0"] {
            try await fixture.install(try StoreFixture.identity(version), activate: true)
        }
        let one = try StoreFixture.identity("1.0.0")
        let lease = try ReleaseLeases(layout: fixture.layout, fileSystem: LocalFileSystem()).acquire(one)
        let before = try fixture.everything().filter { !$0.key.contains("leases") }
        #expect(try await fixture.store.collectSuperseded(one.family).isEmpty)
        for version in [one.version, nil] {
            let error = await #expect(throws: StoreError.self) {
                try await fixture.store.remove(one.family, version: version, variant: nil)
            }
            #expect(error?.code == .releaseInUse)
            #expect(error?.message.contains("process \(getpid())") == true)
        }
        #expect(try fixture.everything().filter { !$0.key.contains("leases") } == before)
        let plan = try await manager(fixture).collectionPlan(budget: 0)
        #expect(plan.kept.contains { $0.identity == one && $0.reasons == [.inUse] })
        lease.release()
        #expect(try await fixture.store.collectSuperseded(one.family) == [one])
        #expect(try !fixture.exists(fixture.layout.leaseFolder(of: one)))
    }

    /// What engines made of a release that is gone is removed only while that is still gone.
    @Test func whatWasMadeOfAReleaseThatIsBackStays() async throws {
        let fixture = try StoreFixture()
        let identity = try StoreFixture.identity()
        let made = try fixture.folder.write("home/prepared/tiny/1.0.0~q4/0123456789abcdef/made.bin", Data("x".utf8))
        #expect(try await fixture.store.facts().strayPrepared.map(\.item) == [.prepared(identity)])
        try await fixture.install(identity)
        #expect(try await !fixture.store.removeStrayPrepared(identity) && fixture.exists(made))
        try await fixture.store.remove(identity.family, version: nil, variant: nil)
        try fixture.folder.write("home/prepared/tiny/1.0.0~q4/0123456789abcdef/made.bin", Data("x".utf8))
        #expect(try await fixture.store.removeStrayPrepared(identity) && !fixture.exists(made))
    }

    /// States for weights that are installed stay; those of a model that was opened by its path stay for a day.
    @Test func theStatesOfAbsentWeightsGoADayAfterTheirLastUse() async throws {
        let clock = ManualClock()
        let fixture = try StoreFixture(time: clock.time)
        let identity = try StoreFixture.identity()
        try await fixture.install(identity)
        let release = fixture.layout.folder(of: identity)
        let weights = try #require(
            try FileManager.default.contentsOfDirectory(atPath: release.string).first { $0 != "receipt.json" })
        func write(_ path: Path, age: Double) throws -> Path {
            let name = HomeLayout.stateFolderName(of: path)
            let file = try fixture.folder.write("home/instruction-states/\(name)/a.state", Data("HKVS".utf8))
            for changed in [file, file.parent] {
                try FileManager.default.setAttributes(
                    [.modificationDate: clock.time.now.addingTimeInterval(-age)], ofItemAtPath: changed.string)
            }
            return file
        }
        let own = try write(release.joined(weights), age: 200_000)
        let young = try write(Path("/models/young.gguf"), age: 3600)
        let old = try write(Path("/models/old.gguf"), age: 90_000)
        let plan = try await manager(fixture).collectionPlan()
        #expect(plan.removals.map(\.item) == [.state(old.parent.lastComponent)])
        #expect(plan.removals.map(\.bytes) == [4])
        #expect(try await manager(fixture).collect(plan) == plan.removals)
        #expect(try !fixture.exists(old.parent) && fixture.exists(young) && fixture.exists(own))
        #expect(try await manager(fixture).collectionPlan().removals.isEmpty)
    }

    @Test func whatIsBeingInstalledIsNotRemoved() async throws {
        let fixture = try StoreFixture()
        for version in ["1.0.0", "1.1.0", "1.2.0"] {
            try await fixture.install(try StoreFixture.identity(version), activate: true)
        }
        let one = try StoreFixture.identity("1.0.0")
        let staging = try Staging(one, in: fixture.store.home)
        #expect(try await fixture.store.collectSuperseded(one.family).isEmpty)
        staging.close()
        #expect(try await fixture.store.collectSuperseded(one.family) == [one])
    }

    /// The later of its installation and of the last lease on it.
    @Test func theLastUseIsTheLaterOfTwo() async throws {
        let clock = ManualClock()
        let fixture = try StoreFixture(time: clock.time)
        let identity = try StoreFixture.identity()
        let leases = ReleaseLeases(layout: fixture.layout, fileSystem: LocalFileSystem())
        func lastUse() async throws -> (installed: Date, leased: Date, used: Date?) {
            (
                try #require(try await fixture.store.installed(identity)).receipt.installed,
                try #require(try leases.lastUse(of: identity)),
                try await fixture.store.facts(of: [identity.family]).members.first?.lastUsed
            )
        }
        // Installed long after it was used, as the clocks have it; and the other way round.
        clock.advance(by: .seconds(4_000_000_000))
        try await fixture.install(identity)
        try leases.acquire(identity).release()
        let late = try await lastUse()
        #expect(late.installed > late.leased && late.used == late.installed)
        let place = fixture.layout.leaseFolder(of: identity).string
        let future = late.installed.addingTimeInterval(60)
        try FileManager.default.setAttributes([.modificationDate: future], ofItemAtPath: place)
        let again = try await lastUse()
        #expect(again.leased > again.installed && again.used == again.leased)
    }

    @Test func aPlanIsCarriedOutAndTellsTheTruth() async throws {
        let fixture = try StoreFixture()
        for version in ["1.0.0", "1.1.0", "1.2.0"] {
            try await fixture.install(try StoreFixture.identity(version), activate: true)
        }
        let other = try StoreFixture.identity("5.0.0", family: "other")
        try await fixture.install(other)
        let gone = try StoreFixture.identity("0.1.0")
        try fixture.folder.write("home/prepared/tiny/0.1.0~q4/cache.bin", Data(count: 5000))
        try fixture.folder.write("home/prepared/tiny/1.2.0~q4/cache.bin", Data(count: 700))
        let catalog = String(repeating: "a", count: 64)
        try fixture.folder.write("home/catalogs/\(catalog)/record.json", Data("{}".utf8))
        let manager = manager(fixture)
        let before = try await fixture.store.facts().owners.total
        let plan = try await manager.collectionPlan()
        #expect(
            plan.removals.map(\.item) == [
                .release(try StoreFixture.identity("1.0.0")), .prepared(gone), .catalog(catalog),
            ])
        #expect(try await versions(fixture).count == 4, "a plan changes nothing")
        let done = try await manager.collect(plan)
        #expect(done == plan.removals)
        let after = try await fixture.store.facts().owners.total
        #expect(before - after == plan.removals[0].bytes)
        #expect(plan.remainingBytes == after + 700)
        #expect(try !fixture.exists(fixture.layout.preparedFolder(of: gone)))
        #expect(try fixture.exists(fixture.layout.preparedFolder(of: try StoreFixture.identity("1.2.0"))))
        #expect(try !fixture.exists(fixture.layout.catalogs.appending("x").parent.withSuffix("/\(catalog)")))

        let budget = try await manager.collectionPlan(budget: 0)
        #expect(budget.removals.map(\.item) == [.release(other)])
        #expect(try await manager.collect(budget).count == 1)
        #expect(try await versions(fixture) == ["1.1.0", "1.2.0"])
    }

    /// Between the plan and its execution somebody wants what was to go.
    @Test func whatIsWantedMeanwhileStays() async throws {
        let fixture = try StoreFixture()
        for version in ["1.0.0", "1.1.0", "1.2.0"] {
            try await fixture.install(try StoreFixture.identity(version), activate: true)
        }
        let manager = manager(fixture)
        let plan = try await manager.collectionPlan()
        let one = try StoreFixture.identity("1.0.0")
        #expect(plan.removals.map(\.item) == [.release(one)])
        try await fixture.store.activate(one)
        #expect(try await manager.collect(plan).isEmpty)
        #expect(try await versions(fixture).count == 3)
    }

    /// A failing call, for every call there is: each release is whole or gone, and the next collection ends it.
    @Test func everyFailingCallLeavesAWholeHome() async throws {
        var call = 1
        while true {
            let disk = FaultyFileSystem()
            let fixture = try StoreFixture(fileSystem: disk)
            for version in ["1.0.0", "1.1.0", "1.2.0"] {
                try await fixture.install(try StoreFixture.identity(version), activate: true)
            }
            let family = try StoreFixture.identity().family
            let store = fixture.anotherStore()
            try await store.prepare()
            let before = disk.mutations.count
            disk.fail(call: call, errno: EIO)
            _ = await code { try await store.collectSuperseded(family) }
            let calls = disk.mutations.count - before
            disk.heal()
            let inventory = try await fixture.anotherStore().inventory()
            #expect(inventory.damaged.isEmpty, "call \(call)")
            #expect(try await fixture.anotherStore().active(family)?.identity.version.name == "1.2.0", "call \(call)")
            _ = try await fixture.anotherStore().collectSuperseded(family)
            #expect(try await versions(fixture) == ["1.1.0", "1.2.0"], "call \(call)")
            #expect(try fixture.temporaryNames().isEmpty, "call \(call)")
            if calls < call { break }
            call += 1
        }
        #expect(call > 3)
    }

    /// The power goes after every change.
    @Test func everyPowerCutLeavesAWholeHome() async throws {
        let fixture = try StoreFixture()
        for version in ["1.0.0", "1.1.0", "1.2.0"] {
            try await fixture.install(
                try StoreFixture.identity(version), names: ["weights.gguf", "a/b/merges.txt"], activate: true)
        }
        let family = try StoreFixture.identity().family
        let disk = try PowerCutDisk(root: fixture.folder.path)
        let store = ModelStore(home: disk.root.appending("home"), fileSystem: disk, time: fixture.time)
        _ = try await store.collectSuperseded(family)
        #expect(disk.operationCount > 3)
        for operation in 0...disk.operationCount {
            for policy in PowerCutDisk.Policy.allCases {
                let after = try TemporaryFolder()
                try disk.rebuild(after: operation, policy: policy, into: after.path)
                let note = "cut after \(disk.operations.prefix(operation).last ?? "nothing"), \(policy)"
                let store = ModelStore(home: after.path.appending("home"), time: fixture.time)
                let inventory = try await store.inventory()
                #expect(inventory.damaged.isEmpty, "\(note)")
                for release in inventory.releases { #expect(try await store.verify(release).isIntact, "\(note)") }
                #expect(try await store.active(family)?.identity.version.name == "1.2.0", "\(note)")
                _ = try await store.collectSuperseded(family)
                #expect(try await store.installed().map(\.identity.version.name) == ["1.1.0", "1.2.0"], "\(note)")
            }
        }
    }

    /// What 500 installed releases cost: the best of five. The bar is 100 ms for a release build alone (`make bench`); a debug build
    /// beside all other tests, or one that a sanitizer watches, has a hundred times that: less than what grows with the square takes.
    @Test func manyReleasesAreListedQuickly() async throws {
        let fixture = try StoreFixture()
        try await fixture.install(try StoreFixture.identity("1.0.0", family: "m0"), activate: true)
        let disk = LocalFileSystem()
        let first = fixture.layout.folder(of: try StoreFixture.identity("1.0.0", family: "m0"))
        let receipt = try fixture.text(HomeLayout.receipt(in: first))
        for number in 1..<500 {
            let identity = try StoreFixture.identity("1.0.0", family: "m\(number)")
            let folder = fixture.layout.folder(of: identity)
            try disk.makeFolders(folder)
            try Data(receipt.replacingOccurrences(of: "\"m0\"", with: "\"m\(number)\"").utf8)
                .write(to: HomeLayout.receipt(in: folder).url)
            try disk.makeHardLink(at: folder.appending("weights.gguf"), to: first.appending("weights.gguf"))
            try disk.replaceLink(at: fixture.layout.activeLink(of: identity.family), with: identity.folderName)
        }
        let store = fixture.anotherStore()
        var best = Duration.seconds(1000)
        for _ in 0..<5 {
            let started = ContinuousClock.now
            let inventory = try await store.inventory()
            best = min(best, ContinuousClock.now - started)
            #expect(inventory.releases.count == 500 && inventory.damaged.isEmpty)
        }
        print("collection: 500 releases were listed in \(best)")
        #expect(best < .seconds(10))
    }
}
