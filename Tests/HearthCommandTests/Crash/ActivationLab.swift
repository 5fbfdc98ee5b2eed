import Foundation
import HearthBase
import HearthHTTP
import HearthTestSupport
import Testing

@testable import HearthCatalog
@testable import HearthDelivery
@testable import HearthStore
@testable import HearthTransfer

/// Homes in which a process activates, goes back or starts, and what holds in them wherever it is killed.
struct ActivationLab {
    enum Deed: String, CaseIterable, Sendable {
        case activate, rollback, use
        /// The way back from a first download to what came with the app.
        case retreat
        /// A start after two ends on probation: to the release before, without and with a model that came with the app.
        case fail, failBeforeBundled
        /// The same of a first download: to what came with the app, and to nothing.
        case failFirst, failAlone

        /// Those a start does by itself.
        var isStart: Bool { [.fail, .failBeforeBundled, .failFirst, .failAlone].contains(self) }
        var hasBundled: Bool { [.retreat, .failBeforeBundled, .failFirst].contains(self) }
        fileprivate var isFirst: Bool { [.retreat, .failFirst, .failAlone].contains(self) }
        /// Whether 2.0.0 is left for good.
        fileprivate var leaves: Bool { ![.activate, .use, .failAlone].contains(self) }
        /// What is live in the end, `nil` for what came with the app.
        fileprivate var goal: String? {
            if !leaves { return "2.0.0" }
            return isFirst ? nil : "1.0.0"
        }

        fileprivate var words: [String] {
            switch self {
            case .activate, .use: ["activate", "tiny@2.0.0"]
            case .rollback, .retreat: ["rollback", "tiny"]
            case .fail, .failBeforeBundled, .failFirst, .failAlone: ["recover"]
            }
        }
    }

    let folder: TemporaryFolder
    let deed: Deed
    private let template: Path
    private let family: Family

    /// Makes the home that others are copies of: 1.0.0 and 2.0.0, or the latter alone, as far as the deed wants them.
    init(_ deed: Deed) async throws {
        self.deed = deed
        folder = try TemporaryFolder()
        template = folder.path("template")
        family = try #require(Family("tiny"))
        let bundled = Data("weights that came with the app".utf8)
        try folder.write("app/tiny-v0.9.0.onnx", bundled)
        try folder.write(
            "app/models.json",
            Data(
                #"""
                {"schemaVersion": 1, "models": [{"id": "t", "filename": "tiny-v0.9.0.onnx", "sizeBytes": \#(bundled.count),
                  "sha256": "\#(SHA256Digest(hashing: bundled))", "downloadUrl": "tiny-v0.9.0.onnx"}]}
                """#.utf8))
        let store = ModelStore(home: template)
        try await store.prepare()
        for version in versions { try await install(version, store) }
        if !deed.isFirst { _ = try await store.activate(try identity("1.0.0")) }
        if deed.isStart || deed == .retreat {
            try await putOnProbation(template)
        } else if deed != .activate {
            _ = try await store.activate(try identity("2.0.0"))
        }
        if deed.isStart { for _ in 1...2 { try await endInAnAnswer(template) } }
        if deed == .use { _ = try await store.rollBack(family, because: "a test") }
    }

    private var versions: [String] { deed.isFirst ? ["2.0.0"] : ["1.0.0", "2.0.0"] }

    func identity(_ version: String) throws -> ReleaseIdentity {
        ReleaseIdentity(family: family, version: try #require(ReleaseVersion(version)), variant: nil)
    }

    private func install(_ version: String, _ store: ModelStore) async throws {
        let data = Data("weights of \(version)".utf8)
        let identity = try identity(version)
        let name = try #require(RelativePath("weights.onnx"))
        let path = try folder.write("template/transfers/\(version)/data.part", data)
        let digest = SHA256Digest(hashing: data)
        let file = RemoteFile(name: name, size: .exact(UInt64(data.count)), digest: digest, locations: [])
        _ = try await store.install(
            Release(identity: identity, id: version, file: file, format: .onnx),
            files: [StagedFile(name: name, path: path, size: UInt64(data.count), digest: digest, isVerified: true)],
            origin: nil)
    }

    /// Makes 2.0.0 live as an app does; the store alone asks nobody to prove itself.
    func putOnProbation(_ home: Path) async throws {
        let whole = try await CrashProbe.run(["live", home.string, "activate", "tiny@2.0.0"])
        try #require(whole.status == 0, "\(whole.errors)")
    }

    /// A process dies while it loads 2.0.0: the removal of its first mark never happens.
    func endInAnAnswer(_ home: Path) async throws {
        let kill = KillingFileSystem.Kill(.init(.synchronizeFolder, "2.0.0"), occurrence: 1, .after)
        let ended = try await CrashProbe.run(["live", home.string, "answer", "tiny@2.0.0"], kill: kill)
        try #require(ended.status == 128 + SIGKILL, "\(ended.errors)")
    }

    func copy(_ name: String) throws -> Path {
        let home = folder.path(name)
        try FileManager.default.copyItem(atPath: template.string, toPath: home.string)
        return home
    }

    // MARK: - What happens in them

    private func words(_ home: Path, _ words: [String]) -> [String] {
        ["live", home.string] + (deed.hasBundled ? ["beside", folder.path("app").string] : []) + words
    }

    func perform(_ home: Path, kill: KillingFileSystem.Kill? = nil) async throws -> CrashProbe.Report {
        try await CrashProbe.run(words(home, deed.words), kill: kill)
    }

    func begin(_ home: Path) throws -> ChildProcess { try CrashProbe.start(words(home, deed.words)) }

    func start(_ home: Path) async throws {
        let start = try await CrashProbe.run(words(home, ["recover"]))
        #expect(start.status == 0, "\(start.errors)")
    }

    // MARK: - What holds in them

    private func manager(_ home: Path, hasBundled: Bool) -> ModelManager {
        ModelManager(
            home: home, origins: [], network: UnmonitoredNetwork(), deviceMemory: 1 << 40,
            bundled: hasBundled ? [BundledSource(folder: folder.path("app"))] : [])
    }

    /// What holds at any moment: what is live is whole to its last byte, or is what came with the app; and so is what is found
    /// that was made of a release.
    @discardableResult
    func check(_ home: Path, _ note: String) async throws -> ReleaseState {
        // Asked of the store: a manager would put in order first what is looked at here.
        let store = ModelStore(home: home)
        if let release = try await store.active(family) {
            #expect(try await store.verify(release).isIntact, "\(note)")
        } else {
            #expect(deed.hasBundled && deed.isFirst, "\(note): nothing is live, or what came with the app is too old")
        }
        let inventory = try await store.inventory()
        #expect(inventory.damaged.isEmpty && inventory.releases.count == versions.count, "\(note)")
        for release in inventory.releases {
            guard let artifact = try await store.artifact(of: release) else { continue }
            let whole = try store.artifacts.find(artifact.recipe, of: release, rehashing: true, flag: StopFlag())
            #expect(whole == artifact, "\(note)")
        }
        return try await store.state(of: family)
    }

    /// The next start finishes or undoes it without help; then the same deed succeeds.
    func recover(_ home: Path, _ note: String) async throws {
        try await check(home, note)
        try await start(home)
        let state = try await check(home, note)
        let (two, goal) = (try identity("2.0.0"), try deed.goal.map { try identity($0) })
        let isReached = state.active == goal
        #expect(isReached || !deed.isStart, "\(note): a start does all there is to do")
        #expect(state.isHeldBack(two) == (deed == .use ? !isReached : deed.leaves && isReached), "\(note)")
        if isReached { #expect(state.probation?.release == (deed.leaves ? nil : two), "\(note)") }
        if isReached, deed.leaves { #expect(state.previous == nil, "\(note)") }
        if !isReached {
            let again = try await perform(home)
            #expect(again.status == 0, "\(note): \(again.errors)")
        }
        #expect(try await check(home, note).active == goal, "\(note)")
        // A kill in a probe is remembered until the release is live, and ends with nothing to go back to as well.
        let marks = MarkFiles(layout: HomeLayout(home: home), fileSystem: LocalFileSystem())
        let left = try marks.families().flatMap { try marks.all(of: $0) }
        #expect(left.compactMap(\.mark?.stage) == (deed == .failAlone ? [.load, .load] : []), "\(note)")
        #expect(try await manager(home, hasBundled: deed.hasBundled).recover().isEmpty, "\(note)")
    }

    /// A program that knows nothing of what came with the app, such as `hearth`, starts first: something is live all the same,
    /// unless the way back was gone to its end.
    func recoverWithoutTheApp(_ home: Path, _ note: String) async throws {
        let store = ModelStore(home: home)
        try await store.recover()
        let (state, two) = (try await store.state(of: family), try identity("2.0.0"))
        #expect(state.active == (state.isHeldBack(two) ? nil : two), "\(note)")
    }
}
