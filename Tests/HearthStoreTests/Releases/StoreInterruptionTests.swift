import Foundation
import HearthBase
import HearthTestSupport
import Testing

@testable import HearthCatalog
@testable import HearthStore

@Suite(.timeLimit(.minutes(10))) struct StoreInterruptionTests {
    /// The Nth call of a kind fails, once or from then on, for every N that there is.
    @Test(arguments: StoreScenario.allCases, [nil, .openExisting, .read] as [FaultyFileSystem.Operation?])
    func everyFailingCallLeavesAWholeHome(
        _ scenario: StoreScenario, _ operation: FaultyFileSystem.Operation?
    ) async throws {
        for (number, stays) in operation == nil ? [(EIO, false), (ENOSPC, true)] : [(EIO, false)] {
            var generator = SeededGenerator(seed: UInt64(number))
            var call = 1
            var hasFailed = 0
            while true {
                let disk = FaultyFileSystem()
                let fixture = try StoreFixture(fileSystem: disk)
                let files = try await scenario.prepare(fixture)
                let note = "\(scenario), call \(call) of \(operation?.rawValue ?? "all"), errno \(number)"
                let before = disk.callCount(of: operation)
                disk.fail(call: call, of: operation, errno: number, stays: stays)
                do {
                    try await scenario.run(fixture.anotherStore(), files)
                } catch let error as any HearthFailure {
                    hasFailed += 1
                    #expect(error.codeText != "not-installed", "\(note): \(error)")
                }
                let calls = disk.callCount(of: operation) - before
                disk.heal()
                try await scenario.checkInterrupted(fixture.anotherStore(), files, note)
                try await scenario.run(fixture.anotherStore(), files)
                try await scenario.checkDone(fixture.anotherStore(), note)
                if calls < call { break }
                call += TestExtent.isFull || call < 2 ? 1 : Int.random(in: 1...24, using: &generator)
            }
            #expect(call > 2)
            if TestExtent.isFull { #expect(hasFailed > 0) }
        }
    }

    /// The power goes after every change and synchronisation, and the disk keeps what it pleases of the rest.
    @Test(arguments: StoreScenario.allCases)
    func everyPowerCutLeavesAWholeHome(_ scenario: StoreScenario) async throws {
        let fixture = try StoreFixture()
        let files = try await scenario.prepare(fixture)
        let disk = try PowerCutDisk(root: fixture.folder.path)
        let home = disk.root.appending("home")
        try await scenario.run(ModelStore(home: home, fileSystem: disk, time: fixture.time), files)
        #expect(disk.operationCount > 3)
        var generator = SeededGenerator(seed: 8)
        for operation in 0...disk.operationCount {
            for policy in PowerCutDisk.Policy.allCases {
                guard TestExtent.includes(oneIn: 16, using: &generator) else { continue }
                let after = try TemporaryFolder()
                try disk.rebuild(after: operation, policy: policy, into: after.path)
                let note = "\(scenario), cut after \(disk.operations.prefix(operation).last ?? "nothing"), \(policy)"
                let moved = files.map { file in
                    file.with(
                        path: Path(after.path.string + file.path.string.dropFirst(fixture.folder.path.string.count)))
                }
                let home = after.path.appending("home")
                func store() -> ModelStore { ModelStore(home: home, time: fixture.time) }
                try await scenario.checkInterrupted(store(), moved, note)
                try await scenario.run(store(), moved)
                try await scenario.checkDone(store(), note)
            }
        }
    }

    /// What a call has promised by returning is on the disk, even if the files came there unsynchronised.
    @Test(arguments: PowerCutDisk.Policy.allCases)
    func whatReturnedHasReachedTheDisk(_ policy: PowerCutDisk.Policy) async throws {
        let folder = try TemporaryFolder()
        let disk = try PowerCutDisk(root: folder.path)
        let home = disk.root.appending("home")
        let store = ModelStore(home: home, fileSystem: disk, time: HurriedClock().time)
        let identity = try StoreFixture.identity()
        let data = StoreFixture.contents("weights.gguf", of: identity)
        let part = home.appending("transfers").appending("key").appending("data.part")
        func isActiveAfterCut() async throws -> Bool? {
            let after = try TemporaryFolder()
            try disk.rebuild(after: disk.operationCount, policy: policy, into: after.path)
            let store = ModelStore(home: after.path.appending("home"), time: HurriedClock().time)
            guard let found = try await store.installed(identity) else { return nil }
            #expect(try await store.verify(found).isIntact)
            return found.isActive
        }

        try await store.prepare()
        try disk.makeFolders(part.parent)
        let file = try disk.open(part, .createNew)
        try data.withUnsafeBytes { try disk.write(file, $0, at: 0) }
        let staged = StagedFile(
            name: try #require(RelativePath("weights.gguf")), path: part, size: UInt64(data.count),
            digest: SHA256Digest(hashing: data), isVerified: true)
        _ = try await store.install(try StoreFixture.release(identity), files: [staged], origin: nil)
        #expect(try await isActiveAfterCut() == false)
        try await store.activate(identity)
        #expect(try await isActiveAfterCut() == true)
        try await store.remove(identity.family, version: nil, variant: nil)
        #expect(try await isActiveAfterCut() == nil)
    }

    /// A disk that fills up at every byte of what the change writes.
    @Test func aFullDiskIsSaidAndLeavesAWholeHome() async throws {
        for left in stride(from: 0 as UInt64, to: 1200, by: 60) {
            let disk = FaultyFileSystem()
            let fixture = try StoreFixture(fileSystem: disk)
            let files = try await StoreScenario.update.prepare(fixture)
            disk.fillDisk(after: left)
            let outcome = await code { try await StoreScenario.update.run(fixture.anotherStore(), files) }
            #expect(outcome == "disk-full" || outcome == nil)
            if left == 0 { #expect(outcome == "disk-full") }
            disk.heal()
            try await StoreScenario.update.checkInterrupted(fixture.anotherStore(), files, "\(left) bytes left")
            try await StoreScenario.update.run(fixture.anotherStore(), files)
            try await StoreScenario.update.checkDone(fixture.anotherStore(), "\(left) bytes left")
        }
    }

    /// Other file systems, other rules: where a second name is impossible the bytes are copied.
    @Test(arguments: [EXDEV, EPERM, EOPNOTSUPP, EMLINK])
    func withoutHardLinksFilesAreCopied(_ number: Int32) async throws {
        let disk = FaultyFileSystem()
        let fixture = try StoreFixture(fileSystem: disk)
        let files = try await StoreScenario.update.prepare(fixture)
        disk.fail(call: 1, of: .makeHardLink, errno: number, stays: true)
        try await StoreScenario.update.run(fixture.store, files)
        try await StoreScenario.update.checkDone(fixture.anotherStore(), "errno \(number)")
        #expect(try files.allSatisfy { try !fixture.exists($0.path) })
    }

    /// Killed between the release and the end of its transfer: nobody may write to the part file any more.
    @Test func aPartFileThatIsAlsoInstalledIsDropped() async throws {
        let fixture = try StoreFixture()
        let installed = try await fixture.install(try StoreFixture.identity())
        let weights = try #require(installed.weights)
        try LocalFileSystem().makeFolders(fixture.layout.transfers.appending("key"))
        let second = fixture.layout.transfers.appending("key").appending("data.part")
        try LocalFileSystem().makeHardLink(at: second, to: weights)
        let other = try fixture.folder.write("home/transfers/other/data.part", Data("half".utf8))
        try await fixture.anotherStore().prepare()
        #expect(try !fixture.exists(second))
        #expect(try fixture.exists(other))
        #expect(try await fixture.store.verify(installed).isIntact)
    }

    /// Killed between the receipt of a release and moving it in.
    @Test func anInstallationThatWasInterruptedIsFinished() async throws {
        let fixture = try StoreFixture()
        let installed = try await fixture.install(try StoreFixture.identity(), activate: true)
        let aside = installed.folder.parent.appendingTemporary(besides: installed.identity.folderName)
        try LocalFileSystem().rename(installed.folder, to: aside)
        #expect(try await fixture.anotherStore().active(installed.identity.family) == installed.asActive)
        #expect(try fixture.temporaryNames().isEmpty)
    }

    /// What was removed stays removed, wherever its removal was interrupted.
    @Test func aRemovalThatWasInterruptedIsFinished() async throws {
        let fixture = try StoreFixture()
        let installed = try await fixture.install(try StoreFixture.identity())
        let aside = installed.folder.parent.appendingTemporary(besides: HomeLayout.removedName)
        try LocalFileSystem().rename(installed.folder, to: aside)
        #expect(try await fixture.anotherStore().installed().isEmpty)
        #expect(try !fixture.exists(aside))
        #expect(try !fixture.exists(aside.parent), "nothing is left of the family")
    }
}

extension InstalledRelease {
    var asActive: InstalledRelease {
        InstalledRelease(identity: identity, folder: folder, receipt: receipt, isActive: true)
    }
}
