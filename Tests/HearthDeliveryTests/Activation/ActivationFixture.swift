import Foundation
import HearthBase
import HearthHTTP
import HearthTestSupport
import Testing

@testable import HearthCatalog
@testable import HearthDelivery
@testable import HearthStore
@testable import HearthTransfer

/// Writes what it is told to, and counts.
final class ScriptedPreparer: ReleasePreparer {
    struct Failure: Error {}

    let recipe = Locked<Recipe?>(nil)
    let fails = Locked(false)
    let builds = Locked(0)
    private let fileSystem: any FileSystem

    init(settings: String? = "small", fileSystem: any FileSystem = LocalFileSystem()) {
        self.fileSystem = fileSystem
        use(settings)
    }

    /// What it makes from now on; `nil` for nothing.
    func use(_ settings: String?) {
        recipe.withLock { recipe in
            recipe = settings.map {
                Recipe(
                    engine: "scripted", engineVersion: "1", settings: $0, fileName: "made.bin", expectedSize: 10,
                    summary: "a \($0) one")
            }
        }
    }

    func recipe(for release: InstalledRelease) async throws -> Recipe? { recipe.withLock { $0 } }

    func build(
        _ recipe: Recipe, of release: InstalledRelease, at target: Path, progress: @escaping @Sendable (Double) -> Void
    ) async throws {
        builds.withLock { $0 += 1 }
        let file = try fileSystem.open(target, .createNew)
        let contents = Data("\(recipe.settings) of \(release.identity)".utf8)
        let half = contents.count / 2
        try contents.prefix(half).withUnsafeBytes { try fileSystem.write(file, $0, at: 0) }
        if fails.withLock({ $0 }) { throw Failure() }
        try contents.dropFirst(half).withUnsafeBytes { try fileSystem.write(file, $0, at: UInt64(half)) }
        progress(1)
    }
}

/// Makes the artifact of every release by a closure.
struct ClosurePreparer: ReleasePreparer {
    private let body: @Sendable (Path) async throws -> Void

    init(_ body: @escaping @Sendable (Path) async throws -> Void) { self.body = body }

    func recipe(for release: InstalledRelease) async throws -> Recipe? {
        Recipe(
            engine: "scripted", engineVersion: "1", settings: "any", fileName: "made.bin", expectedSize: 1,
            summary: "anything")
    }

    func build(
        _ recipe: Recipe, of release: InstalledRelease, at target: Path, progress: @escaping @Sendable (Double) -> Void
    ) async throws { try await body(target) }
}

/// Answers what it is told to, by the file it is given.
final class ScriptedProbe: ReleaseProbe {
    let asked = Locked<[Path]>([])
    private let answer: @Sendable (ProbeCandidate) async throws -> ProbeReport?

    init(_ answer: @escaping @Sendable (ProbeCandidate) async throws -> ProbeReport? = { _ in ScriptedProbe.report() })
    {
        self.answer = answer
    }

    static func report(_ text: String = "fine") -> ProbeReport {
        ProbeReport(
            text: text, generatedTokens: 2, loadSeconds: 1, answerSeconds: 1, tokensPerSecond: 9, peakMemoryBytes: 1)
    }

    /// One in which two processes end, as far as the store can tell; the trial under way is given up then.
    static func endingTwoProcesses(in store: ModelStore) -> ScriptedProbe {
        let files = MarkFiles(layout: store.layout, fileSystem: LocalFileSystem())
        return ScriptedProbe { candidate in
            let identity = candidate.release.identity
            guard let found = try files.all(of: identity.family).first, var mark = found.mark else {
                throw StoreError(.releaseDamaged, "nobody marked it")
            }
            for number in Int32(1)...2 {
                mark.process = ProcessIdentity(number: number, started: "0", boot: "another boot", space: "")
                try files.put(mark, identity, token: ActivityMark.token())
                try await store.recover()
            }
            throw CancellationError()
        }
    }

    func probe(_ candidate: ProbeCandidate) async throws -> ProbeReport? {
        asked.withLock { $0.append(candidate.weights) }
        return try await answer(candidate)
    }
}

extension StoreFixture {
    /// A manager as a process would make it.
    func manager(
        preparer: (any ReleasePreparer)? = nil, probe: (any ReleaseProbe)? = nil, fileSystem: (any FileSystem)? = nil
    ) -> ModelManager {
        ModelManager(
            home: home, origins: [], fileSystem: fileSystem ?? self.fileSystem, time: time,
            network: UnmonitoredNetwork(), deviceMemory: 1 << 40, preparer: preparer, probe: probe)
    }

    /// The marks that are on the disk, as `stage`.
    func marks() throws -> [String] {
        let files = MarkFiles(layout: layout, fileSystem: LocalFileSystem())
        return try files.families().flatMap { try files.all(of: $0) }.map { $0.mark?.stage.rawValue ?? "?" }.sorted()
    }

    /// Leaves a mark as a process does that ends in the middle of something, the first or another.
    func leave(
        _ stage: ActivityMark.Stage, _ identity: ReleaseIdentity, target: String? = nil, process: Int32 = 1
    ) throws {
        var mark = ActivityMark(stage, at: time.now, target: target, reason: "it was left")
        mark.process = ProcessIdentity(number: process, started: "0", boot: "another boot", space: "")
        try MarkFiles(layout: layout, fileSystem: LocalFileSystem())
            .put(mark, identity, token: ActivityMark.token())
    }
}
