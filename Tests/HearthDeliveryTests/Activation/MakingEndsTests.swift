import Foundation
import HearthBase
import HearthTestSupport
import Testing

@testable import HearthDelivery

/// What ends the engine's code that makes something is told from a kill or a cut of the power, and is not made for ever.
@Suite(.timeLimit(.minutes(5))) struct MakingEndsTests {
    private static let date = Date(timeIntervalSince1970: 1_800_000_000)

    /// Where processes ended, each `process@hundredths`; without the latter as an earlier version left it.
    @Test(
        arguments: [
            ("", nil), ("1@37", nil), ("1@37 2@37", "2 times while it was made, at 37 % of it"),
            // The second got past the place of the first, or the first past that of the second.
            ("1@10 2@37", nil), ("1@37 2@10", nil), ("1@10 2@10 3@37", nil), ("1@1 2@2 3@3 4@4", nil),
            ("1@10 2@37 3@37", "2 times while it was made, at 37 % of it"),
            ("1@5 2@2 3@3 4@4 5@1", "5 times while it was made"),
            // One that began it several times ended once.
            ("1@37 1@37 1@37", nil), ("1@10 1@37 2@37", "2 times while it was made, at 37 % of it"),
            ("1 2", "2 times while it was made"), ("1@0 2", "2 times while it was made"), ("1 2@37", nil),
        ] as [(String, String?)])
    func onlyEndsAtTheFurthestPlaceCount(_ ends: String, _ reason: String?) throws {
        let marks = try ends.split(separator: " ").map { end in
            let numbers = try end.split(separator: "@").map { try #require(Int($0)) }
            var mark = ActivityMark(.prepare, at: Self.date, target: "x")
            mark.process = ProcessIdentity(number: Int32(numbers[0]), started: "0", boot: "b", space: "")
            mark.reached = numbers.count > 1 ? numbers[1] : nil
            return mark
        }
        let found = MakingEnds(marks)
        #expect(found.objection(isRefused: false) == reason.map { "the program ended \($0)" })
        // Somebody has it made once more all the same.
        #expect((found.objection(isRefused: true) == nil) == marks.isEmpty)
    }

    @Test func aMarkSaysHowFarItCame() throws {
        var mark = ActivityMark(.prepare, at: Self.date, target: "x")
        #expect(!String(decoding: try mark.data(), as: UTF8.self).contains("reached"))
        #expect(try ActivityMark(data: mark.data()) == mark, "as earlier versions write it")
        mark.reached = 37
        #expect(try ActivityMark(data: mark.data()) == mark)
    }

    // MARK: - On the disk

    private let fixture: StoreFixture
    private let release: InstalledRelease
    private let preparer: EndingPreparer

    init() async throws {
        fixture = try StoreFixture()
        release = try await fixture.install(try StoreFixture.identity())
        preparer = EndingPreparer(fixture, release.identity)
    }

    /// Ends its process where it is told to, as far as the next one can tell; then it makes something.
    private final class EndingPreparer: ReleasePreparer {
        let places = Locked<[Double]>([])
        let builds = Locked<Int32>(0)
        let check = Locked<(any Error)?>(nil)
        let expectedSize = Locked<UInt64>(1)
        private let marks: MarkFiles
        private let identity: ReleaseIdentity

        init(_ fixture: StoreFixture, _ identity: ReleaseIdentity) {
            marks = MarkFiles(layout: fixture.layout, fileSystem: LocalFileSystem())
            self.identity = identity
        }

        func recipe(for release: InstalledRelease) -> PreparationRecipe? {
            PreparationRecipe(
                engine: "scripted", engineVersion: "1", settings: "any", fileName: "made.bin",
                expectedSize: expectedSize.withLock(\.self), summary: "anything")
        }

        func check(_ recipe: PreparationRecipe, of release: InstalledRelease) throws {
            if let error = check.withLock(\.self) { throw error }
        }

        func build(
            _ recipe: PreparationRecipe, of release: InstalledRelease, at target: Path,
            progress: @escaping @Sendable (Double) -> Void
        ) throws {
            let number = builds.withLock { builds in
                builds += 1
                return builds
            }
            let place = places.withLock { $0.isEmpty ? nil : $0.removeFirst() }
            guard let place else { return try Data("made".utf8).write(to: target.url) }
            for step in [0, place / 2, place] { progress(step) }
            for found in try marks.all(of: identity.family) {
                guard var mark = found.mark, mark.target != nil, mark.process == .current else { continue }
                mark.process = ProcessIdentity(number: number, started: "0", boot: "another boot", space: "")
                try marks.put(mark, found.release, token: ActivityMark.token())
            }
            throw CancellationError()
        }
    }

    private var builds: Int32 { preparer.builds.withLock(\.self) }

    /// What an engine opens in a process that has just started; `nil` where that has ended.
    private func opened(_ fileSystem: (any FileSystem)? = nil) async throws -> String? {
        let manager = fixture.manager(preparer: preparer, fileSystem: fileSystem)
        try await manager.recover()
        do {
            return try await manager.weightsToOpen(of: release).lastComponent
        } catch is CancellationError {
            return nil
        }
    }

    private func refusal() throws -> PreparedRecord.Refusal? {
        try fixture.store.preparedFiles.refusal(of: try #require(preparer.recipe(for: release)), for: release)
    }

    @Test func whoIsKilledHereAndThereMakesItInTheEnd() async throws {
        preparer.places.withLock { $0 = [0.2, 0.7, 0.4] }
        for _ in 1...3 { #expect(try await opened() == nil) }
        #expect(try await opened() == "made.bin")
        #expect(try refusal() == nil && fixture.marks().isEmpty)
    }

    @Test func whatEndsAtOnePlaceIsRefusedWithTheWayOut() async throws {
        preparer.places.withLock { $0 = [0.2, 0.377, 0.374] }
        for _ in 1...3 { #expect(try await opened() == nil) }
        for _ in 1...2 { #expect(try await opened() == "weights.gguf") }
        #expect(builds == 3)
        let reason = try refusal()?.reason
        #expect(reason?.hasPrefix("the program ended 2 times while it was made, at 37 % of it; ") == true)
        #expect(reason?.hasSuffix("; 'hearth use tiny@1.0.0:q4' has it made once more") == true)
        let told = try await fixture.store.refusedArtefact(of: release)
        #expect(told?.reason == reason && told?.wasTried == false)
        #expect(try fixture.marks().isEmpty && fixture.temporaryNames().isEmpty)
    }

    /// Each time somewhere else: nobody gets to its end, and it is not tried for ever.
    @Test func whatNeverComesToItsEndIsGivenUp() async throws {
        preparer.places.withLock { $0 = [0.5, 0.1, 0.2, 0.3, 0.4, 0.6] }
        for _ in 1...5 { #expect(try await opened() == nil) }
        #expect(try await opened() == "weights.gguf")
        #expect(builds == 5)
    }

    /// As an earlier version left them.
    @Test func marksThatDoNotSayWhereCount() async throws {
        let recipe = try #require(preparer.recipe(for: release))
        let name = try #require(fixture.store.preparedFiles.name(of: recipe, in: release))
        for process in [1, 2] as [Int32] {
            try fixture.leave(.prepare, release.identity, target: name, process: process)
        }
        #expect(try await opened() == "weights.gguf")
        #expect(builds == 0)
    }

    // MARK: - Asked for by hand

    /// What ended in the making is answered by a making that came to its end, whether or not somebody tries it.
    @Test(arguments: [true, false]) func whatIsMadeAfterAllIsOpened(isOfToday: Bool) async throws {
        preparer.places.withLock { $0 = [0.3, 0.3] }
        for _ in 1...2 { #expect(try await opened() == nil) }
        #expect(try await opened() == "weights.gguf")
        #expect(try refusal()?.cause == .making)
        if !isOfToday {
            try forgetTheCause()
            #expect(try refusal()?.cause == .making, "earlier versions did not say")
        }
        let silent = ScriptedProbe { _ in nil }
        #expect(try await fixture.manager(preparer: preparer, probe: silent).activate(release.identity).isActive)
        #expect(silent.asked.withLock { $0.map(\.lastComponent) } == ["made.bin"])
        for _ in 1...2 { #expect(try await opened() == "made.bin") }
        #expect(try builds == 3 && refusal() == nil)
    }

    /// What programs ended in is made once more also where nobody is there to try it.
    @Test func whoTriesNothingHasItMadeOnceMoreAsWell() async throws {
        preparer.places.withLock { $0 = [0.3, 0.3] }
        for _ in 1...2 { #expect(try await opened() == nil) }
        #expect(try await opened() == "weights.gguf")
        #expect(try await fixture.manager(preparer: preparer).activate(release.identity).isActive)
        #expect(try await opened() == "made.bin" && refusal() == nil)
    }

    /// Takes out of the record what earlier versions did not write.
    private func forgetTheCause() throws {
        let parent = fixture.layout.preparedFolder(of: release.identity)
        let folder = try #require(try LocalFileSystem().contents(of: parent).first)
        let file = HomeLayout.join(parent, folder).appending("prepared.json")
        let text = try fixture.text(file)
        let earlier = text.replacing(/"cause"\s*:\s*"making",?/, with: "")
        #expect(earlier != text)
        try Data(earlier.utf8).write(to: file.url)
    }

    /// One more end, wherever, and the release is used as it came, until somebody asks again.
    @Test func eachWishHasItMadeOnceMore() async throws {
        preparer.places.withLock { $0 = [0.3, 0.3, 0.1] }
        for _ in 1...2 { #expect(try await opened() == nil) }
        #expect(try await opened() == "weights.gguf")
        func use() async throws {
            try await fixture.manager(preparer: preparer, probe: ScriptedProbe()).activate(release.identity)
        }
        await #expect(throws: CancellationError.self) { try await use() }
        try await use()
        #expect(try await opened() == "weights.gguf" && builds == 3)
        try await use()
        #expect(try await opened() == "made.bin" && builds == 4)
    }

    // MARK: - Told to end

    /// The engine takes its time to notice, and the program may be gone by then.
    @Test func whoeverIsToldToEndLeavesNoMark() async throws {
        let fixture = fixture
        let (begun, beginning) = AsyncStream.makeStream(of: Void.self)
        let (held, gate) = AsyncStream.makeStream(of: Never.self)
        let slow = SlowPreparer { progress in
            progress(0.25)
            beginning.yield()
            // Its task is not cancelled, and so it does not hear of it.
            await Task { for await _ in held {} }.value
            progress(0.5)
        }
        let making = Task { [release] in try await fixture.manager(preparer: slow).weightsToOpen(of: release) }
        for await _ in begun { break }
        #expect(try fixture.marks() == ["prepare"])
        making.cancel()
        while try !fixture.marks().isEmpty { await Task.yield() }
        gate.finish()
        await #expect(throws: CancellationError.self) { try await making.value }
        #expect(try fixture.marks().isEmpty && fixture.temporaryNames().isEmpty)
    }

    /// Makes something, and is told how.
    private struct SlowPreparer: ReleasePreparer {
        let body: @Sendable (_ progress: @Sendable (Double) -> Void) async throws -> Void

        func recipe(for release: InstalledRelease) -> PreparationRecipe? {
            PreparationRecipe(
                engine: "scripted", engineVersion: "1", settings: "any", fileName: "made.bin", expectedSize: 1,
                summary: "anything")
        }

        func build(
            _ recipe: PreparationRecipe, of release: InstalledRelease, at target: Path,
            progress: @escaping @Sendable (Double) -> Void
        ) async throws {
            try await body(progress)
            try Data("made".utf8).write(to: target.url)
        }
    }

    // MARK: - Asked before

    /// Notices who reads the weights.
    private final class WatchingDisk: ForwardingFileSystem {
        let base: any FileSystem = LocalFileSystem()
        let reads = Locked(0)

        func open(_ path: Path, _ mode: OpenMode, permissions: UInt32) throws -> OpenFile {
            if path.lastComponent == "weights.gguf", mode == .read { reads.withLock { $0 += 1 } }
            return try base.open(path, mode, permissions: permissions)
        }
    }

    enum Obstacle: String, CaseIterable, Sendable { case room, ends, check, nothing }

    /// What forbids it is asked before gigabytes are read.
    @Test(arguments: Obstacle.allCases) func nothingIsReadForWhatCannotBegin(_ obstacle: Obstacle) async throws {
        switch obstacle {
        case .room: preparer.expectedSize.withLock { $0 = .max }
        case .ends:
            preparer.places.withLock { $0 = [0.3, 0.3] }
            for _ in 1...2 { #expect(try await opened() == nil) }
        case .check: preparer.check.withLock { $0 = StoreError(.releaseDamaged, "it is none") }
        case .nothing: break
        }
        let made = builds
        let disk = WatchingDisk()
        #expect(try await opened(disk) == (obstacle == .nothing ? "made.bin" : "weights.gguf"))
        #expect(disk.reads.withLock(\.self) == (obstacle == .nothing ? 1 : 0))
        #expect(try builds == (obstacle == .nothing ? 1 : made) && fixture.temporaryNames().isEmpty)
    }
}
