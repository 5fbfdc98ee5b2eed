import Foundation
import HearthBase
import HearthHTTP
import HearthTestSupport
import Testing

@testable import HearthCatalog
@testable import HearthDelivery
@testable import HearthStore
@testable import HearthTransfer

/// A process that pulls is killed at every step of what it does to the disk.
@Suite(.timeLimit(.minutes(30))) struct KilledStepTests {
    private static let shares = TestExtent.isFull ? 4 : 1

    /// The steps that have to be among those killed at: a change of the product that renames one shows here.
    private static let expected = [
        "makeFolder transfer", "makeHardLink lease", "write plan.json.tmp", "rename plan.json", "open data.part",
        "allocate data.part", "write data.part", "synchronize data.part", "write journal.tmp",
        "synchronize journal.tmp",
        "rename journal", "synchronizeFolder transfer", "makeFolder 2.0.0.tmp", "makeHardLink big-v2.0.0.onnx",
        "write receipt.json.tmp", "rename receipt.json", "synchronizeFolder 2.0.0.tmp", "rename 2.0.0",
        "removeFile data.part",
        "makeLink active.tmp", "rename active", "synchronizeFolder big", "write state.json.tmp", "rename state.json",
    ]

    /// From the first folder to the last file that is cleared away: the next pull ends with the right bytes, and what a
    /// journal named is not fetched again.
    @Test(arguments: 0..<KilledStepTests.shares) func everyStepOfAPullCanBeItsLast(_ share: Int) async throws {
        // Larger than the files that are not synced while they come.
        let lab = try await CrashLab(size: 9 << 20)
        let server = try lab.serve()
        let reference = try server.url("/models.json").absoluteString + "#big@2.0.0"
        let whole = try await CrashProbe.run(["pull", try lab.home("whole").string, reference])
        try #require(whole.status == 0, "\(whole.errors)")
        #expect(whole.fetched == lab.content.count)
        let missing = Self.expected.filter { !whole.steps.map(\.description).contains($0) }
        #expect(missing.isEmpty, "of \(Set(whole.steps.map(\.description)).sorted())")

        for (number, kill) in kills(whole.steps).enumerated() where number % Self.shares == share {
            guard TestExtent.isFull || number % 20 == 0 else { continue }
            let note = "killed \(kill.moment) call \(kill.occurrence) of \(kill.step)"
            let home = try lab.home("home-\(number)")
            let killed = try await CrashProbe.run(["pull", home.string, reference], kill: kill)
            #expect(killed.status == 128 + SIGKILL || killed.status == 0, "\(note): \(killed.errors)")
            let recorded = try lab.recorded(home)
            if TestExtent.isFull { try await lab.checkByCommand(home, server, note) }
            let isInstalled = try await lab.checkHome(home, note)
            let manager = ModelManager(home: home, origins: [], network: UnmonitoredNetwork(), deviceMemory: 1 << 40)
            switch try await manager.pull(ModelReference(parsing: reference)) {
            case .installed(_, let fetched): #expect(fetched == lab.content.count - recorded.byteCount, "\(note)")
            case .alreadyInstalled: #expect(isInstalled, "\(note)")
            }
            try await lab.checkDone(home, note)
            try LocalFileSystem().removeTree(home)
        }
    }

    /// Every step once and, where it comes again, the last time; in full, every call there is.
    private func kills(_ steps: [KillingFileSystem.Step]) -> [KillingFileSystem.Kill] {
        var seen: Set<KillingFileSystem.Step> = []
        return steps.filter { seen.insert($0).inserted }.flatMap { step in
            let count = steps.count { $0 == step }
            let occurrences = TestExtent.isFull ? Array(1...count) : Array(Set([1, count]))
            return occurrences.flatMap { occurrence in
                var moments = TestExtent.isFull ? [KillingFileSystem.Moment.before, .after] : [.after]
                if step.operation == .write { moments.append(.during) }
                return moments.map { KillingFileSystem.Kill(step, occurrence: occurrence, $0) }
            }
        }
    }

    // MARK: - Holes

    private static let size: UInt64 = 24 << 20
    private static let content = Content.pattern(offset: 99, count: size)
    private static let digest = SHA256Digest(hashing: content.bytes)
    /// The most bytes that are written and not recorded: four records of 2 MiB come while a record of as many is on its way, and a
    /// write of each connection.
    private static let bound: UInt64 = 8 * (2 << 20) + 4 * (256 << 10)

    /// One range stands still and leaves a hole while others arrive; then the process is killed, the next one is killed
    /// while it reads what there is once more, and the third fetches what was never recorded.
    @Test(arguments: TestExtent.isFull ? [false, true] : [true])
    func holesStayHolesAndNothingElse(withIndex: Bool) async throws {
        let folder = try TemporaryFolder()
        let transfers = folder.path("transfers")
        let gate = Gate()
        let server = try FaultServer { request in
            let reply = FaultServer.answer(request, with: Self.content)
            // Also whoever comes in its place, as after the 15 s of silence that a busy machine needs to get here.
            let (begin, stuck) = (request.asked(of: Self.size).lowerBound, UInt64(5 << 20)...(5 << 20) + 100_000)
            return stuck.contains(begin) ? reply.stalled(after: stuck.upperBound - begin, at: gate) : reply
        }
        var words = [
            "fetch", transfers.string, try server.url("/model").absoluteString, "\(Self.size)", Self.digest.hex,
        ]
        if withIndex {
            var builder = ChunkIndexBuilder(length: 1 << 20)
            Self.content.bytes.withUnsafeBytes { builder.update($0) }
            words.append(try folder.write("index", try builder.finalize().index.encoded).string)
        }

        let first = try CrashProbe.start(words)
        // Everything else has been written, and the record of that has been begun.
        var written: UInt64 = 0
        for await line in first.outputLines {
            let bounds = line.split(separator: " ").compactMap { UInt64($0) }
            if line.hasPrefix("wrote "), bounds.count == 2 { written += bounds[1] - bounds[0] }
            if written >= 20 << 20, line == "step rename journal" { break }
        }
        first.send(SIGKILL)
        let killed = CrashProbe.Report(await first.result())
        #expect(killed.status == 128 + SIGKILL)
        let held = try recorded(transfers)
        #expect(held.ranges.count > 1, "there is a hole")
        #expect(killed.written.isSuperset(of: held))
        #expect(killed.written.subtracting(held).byteCount <= Self.bound)

        for call in [1, 3, 20] {
            let kill = KillingFileSystem.Kill(.init(.read, "data.part"), occurrence: call, .after)
            let again = try await CrashProbe.run(words, kill: kill)
            #expect(again.status == 128 + SIGKILL)
            #expect(try recorded(transfers).isSuperset(of: held), "killed after read \(call) of what is there")
        }

        gate.open()
        let kept = try recorded(transfers)
        let last = try await CrashProbe.run(words)
        #expect(last.status == 0, "\(last.errors)")
        #expect(last.fetched == Self.size - kept.byteCount)
        #expect(try LocalFileSystem().digest(ofFile: place(transfers).appending("data.part")) == Self.digest)
    }

    /// Killed after any write, seeded.
    @Test(arguments: [false, true]) func whatAKillCostsIsBounded(afterHalfAWrite: Bool) async throws {
        let server = try FaultServer(FaultServer.file(Self.content))
        var generator = SeededGenerator(seed: 7)
        var most: UInt64 = 0
        for number in 0..<(TestExtent.isFull ? 25 : 1) {
            let folder = try TemporaryFolder()
            let transfers = folder.path("transfers")
            let words = [
                "fetch", transfers.string, try server.url("/model").absoluteString, "\(Self.size)", Self.digest.hex,
            ]
            let write = Int.random(in: 1...90, using: &generator)
            let kill = KillingFileSystem.Kill(
                .init(.write, "data.part"), occurrence: write, afterHalfAWrite ? .during : .after)
            let killed = try await CrashProbe.run(words, kill: kill)
            let note = "run \(number), killed at write \(write)"
            let held = try recorded(transfers)
            if killed.status != 0 {
                let cost = killed.written.subtracting(held).byteCount
                most = max(most, cost)
                #expect(cost <= Self.bound, "\(note)")
            }
            let last = try await CrashProbe.run(words)
            #expect(last.fetched == Self.size - held.byteCount, "\(note): \(last.errors)")
            #expect(try LocalFileSystem().digest(ofFile: place(transfers).appending("data.part")) == Self.digest)
        }
        print("crash suite: written and not recorded at the kill: at most \(most >> 10) KiB with records of 2048 KiB")
    }

    private func place(_ transfers: Path) -> Path { Path(transfers.string + "/" + Self.digest.hex) }

    private func recorded(_ transfers: Path) throws -> RangeSet<UInt64> {
        try CrashLab.recorded(in: place(transfers))
    }
}
