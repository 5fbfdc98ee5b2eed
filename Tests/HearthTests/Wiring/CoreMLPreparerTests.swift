import Foundation
import HearthBase
import HearthHTTP
import HearthInference
import HearthTestSupport
import Testing

@testable import Hearth
@testable import HearthDelivery

/// Core ML models, compiled on the device by a compiler that is played.
@Suite(.timeLimit(.minutes(10))) struct CoreMLPreparerTests {
    /// Makes of a package a folder in a place for temporary things, and counts.
    private final class PlayedCompiler: Sendable {
        struct Failure: Error {}

        let folder: Path
        let asked = Locked<[Path]>([])
        let fails = Locked(false)

        init(in folder: Path) { self.folder = folder }

        func compile(_ url: URL) async throws -> URL {
            let package = Path(url.path)
            let count = asked.withLock { asked in
                asked.append(package)
                return asked.count
            }
            if fails.withLock({ $0 }) { throw Failure() }
            let name = url.deletingPathExtension().lastPathComponent
            let target = folder.appending("out").withSuffix("\(count)/\(name).mlmodelc")
            return try await blocking {
                let disk = LocalFileSystem()
                try disk.makeFolders(target.appending("weights"))
                try Data("head".utf8).write(to: target.appending("coremldata.bin").url)
                let isFolder = try disk.status(at: package)?.kind == .folder
                let contents = isFolder ? try disk.files(below: package) : [package.lastComponent]
                try Data(contents.joined(separator: "\n").utf8).write(to: target.appending("weights/weight.bin").url)
                return target.url
            }
        }

        /// What is left of what was compiled.
        var left: [String] {
            get throws { try LocalFileSystem().files(below: folder) }
        }
    }

    private static let package = [
        "Leaf.mlpackage/Data/com.apple.CoreML/model.mlmodel", "Leaf.mlpackage/Data/com.apple.CoreML/weights/weight.bin",
        "Leaf.mlpackage/Manifest.json",
    ]

    private let folder: TemporaryFolder
    private let compiler: PlayedCompiler

    init() throws {
        folder = try TemporaryFolder()
        try LocalFileSystem().makeFolders(folder.path("temporary"))
        compiler = PlayedCompiler(in: folder.path("temporary"))
    }

    private func preparer(_ system: String = "15.1 (24B83)") -> CoreMLPreparer {
        CoreMLPreparer(system: system) { [compiler] in try await compiler.compile($0) }
    }

    /// A manager of a device that gets its model from an origin, as an archive.
    private func manager(_ names: [String] = package, system: String = "15.1 (24B83)") throws -> ModelManager {
        let data = ArchiveFiles.zip(names.map { ($0, Data("bytes of \($0)".utf8)) })
        try folder.write("origin/Leaf_1.0.0.zip", data)
        let manifest = try folder.write(
            "origin/manifest.json",
            Data(
                #"""
                {"version": "1.0.0", "url": "Leaf_1.0.0.zip", "sha256": "\#(SHA256Digest(hashing: data))",
                 "num_classes": 1, "class_list_version": "v1", "training_date": "2026-03-27", "size_mb": 0.01}
                """#.utf8))
        return ModelManager(
            home: folder.path("home"), origins: [Origin(name: "leaf", manifestURL: manifest.url)],
            network: UnmonitoredNetwork(), deviceMemory: 1 << 40,
            preparer: FormatPreparer([.coreml: preparer(system)]))
    }

    /// Brings the model and makes it live.
    private func pull(_ manager: ModelManager) async throws -> InstalledRelease {
        let family = try #require(Family("leaf"))
        _ = try await manager.pull(ModelReference(parsing: "leaf"))
        return try await manager.installed(family)
    }

    /// What an engine of the app's is given to open.
    private func opened(_ release: InstalledRelease, _ manager: ModelManager) async throws -> Path {
        let opened = Locked<Path?>(nil)
        let engines = EngineFiles(manager: manager) { files in
            opened.withLock { $0 = files.weights }
            return ScriptedEngine([])
        }
        _ = try await engines.load(release.identity)
        engines.unloaded(release.identity)
        return try #require(opened.withLock { $0 })
    }

    @Test func aPackageIsCompiledOnceForEachVersionOfTheSystem() async throws {
        let manager = try manager()
        let release = try await pull(manager)
        #expect(release.receipt.format == .coreml)
        #expect(compiler.asked.withLock { $0 } == [release.folder.appending("Leaf.mlpackage")])
        let made = try await opened(release, manager)
        #expect(made.lastComponent == "Leaf.mlmodelc")
        #expect(try LocalFileSystem().files(below: made) == ["coremldata.bin", "weights/weight.bin"])
        #expect(try compiler.left.isEmpty, "it was moved")
        // The next launch finds it.
        #expect(try await opened(release, try self.manager()) == made)
        #expect(compiler.asked.withLock { $0.count } == 1)
        // With the next system it is made anew, and the old one goes.
        let next = try await opened(release, try self.manager(system: "15.2 (24C101)"))
        #expect(next != made && next.lastComponent == "Leaf.mlmodelc")
        #expect(compiler.asked.withLock { $0.count } == 2)
        #expect(try LocalFileSystem().status(at: made) == nil)
    }

    /// What was compiled counts in place of the whole package, not of its description alone.
    @Test func whatIsCompiledCountsInPlaceOfThePackage() async throws {
        let manager = try manager(Self.package + ["labels.txt"])
        let release = try await pull(manager)
        let prepared = try #require(try await manager.store.prepared(of: release))
        let labels = try #require(release.receipt.files.first { $0.name.string == "labels.txt" }).size
        #expect(await manager.openedSize(of: release) == prepared.size + labels)
        #expect(await manager.openedSize(of: release, opening: prepared.path) == prepared.size + labels)
        #expect(await manager.openedSize(of: release, opening: release.weights) == release.receipt.totalSize)
    }

    @Test func aDamagedOneIsCompiledAgain() async throws {
        let manager = try manager()
        let release = try await pull(manager)
        let made = try await opened(release, manager)
        try LocalFileSystem().removeFile(made.appending("weights/weight.bin"))
        #expect(try await opened(release, manager) == made)
        #expect(compiler.asked.withLock { $0.count } == 2)
        #expect(try LocalFileSystem().status(at: made.appending("weights/weight.bin")) != nil)
    }

    /// The model is used all the same: the package is what an engine of the app's is given.
    @Test func whatCannotBeCompiledIsUsedAsItCame() async throws {
        compiler.fails.withLock { $0 = true }
        let manager = try manager()
        let release = try await pull(manager)
        #expect(release.isActive)
        #expect(try await opened(release, manager) == release.folder.appending("Leaf.mlpackage"))
        compiler.fails.withLock { $0 = false }
        #expect(try await opened(release, manager).lastComponent == "Leaf.mlmodelc")
    }

    @Test func aSingleFileIsCompiledToo() async throws {
        let manager = try manager(["Leaf.mlmodel", "labels.txt"])
        let release = try await pull(manager)
        #expect(compiler.asked.withLock { $0 } == [release.folder.appending("Leaf.mlmodel")])
        #expect(try await opened(release, manager).lastComponent == "Leaf.mlmodelc")
    }

    @Test func whatIsCompiledAlreadyIsUsedAsItCame() async throws {
        let manager = try manager(["Leaf.mlmodelc/weights/weight.bin", "Leaf.mlmodelc/coremldata.bin"])
        let release = try await pull(manager)
        #expect(release.weights == release.folder.appending("Leaf.mlmodelc/coremldata.bin"))
        #expect(try await opened(release, manager) == release.folder.appending("Leaf.mlmodelc"))
        #expect(compiler.asked.withLock { $0.isEmpty })
    }

    /// A probe of the app's is given the same as its engine later.
    @Test func whatIsTriedIsWhatIsOpened() async throws {
        let release = try await pull(try manager())
        let candidate = ProbeCandidate(release: release, weights: try #require(release.weights), canary: .usual)
        #expect(candidate.files.weights == release.folder.appending("Leaf.mlpackage"))
    }

    // MARK: - Building

    private func build(_ preparer: CoreMLPreparer, at target: Path) async throws {
        compiler.fails.withLock { $0 = true }
        let release = try await pull(try manager())
        compiler.fails.withLock { $0 = false }
        let recipe = try #require(try await preparer.recipe(for: release))
        try await preparer.build(recipe, of: release, at: target) { _ in }
    }

    @Test func nothingStaysOfWhatCannotBeMoved() async throws {
        let target = try folder.write("target/taken", Data())
        await #expect(throws: (any Error).self) { try await build(preparer(), at: target.parent) }
        #expect(try compiler.left.isEmpty)
        #expect(try LocalFileSystem().contents(of: target.parent) == ["taken"])
    }

    /// Core ML goes on to its end whoever gives up; what it made is thrown away then.
    @Test func nothingStaysOfWhatIsCancelled() async throws {
        let target = folder.path("target")
        let cancelled = CoreMLPreparer(system: "15.1") { [compiler] url in
            let made = try await compiler.compile(url)
            withUnsafeCurrentTask { $0?.cancel() }
            return made
        }
        let task = Task { try await build(cancelled, at: target) }
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(compiler.asked.withLock { $0.count } > 1)
        #expect(try compiler.left.isEmpty)
        #expect(try LocalFileSystem().status(at: target) == nil)
    }

    private static let memory = Path("/dev/shm")

    /// The system's temporary files may lie on another volume than the models.
    @Test(.enabled(if: FileManager.default.isWritableFile(atPath: memory.string), "there is another volume"))
    func itIsBroughtOverFromAnotherVolume() async throws {
        let disk = LocalFileSystem()
        let other = Self.memory.appendingTemporary(besides: "hearth-test")
        try disk.makeFolder(other, permissions: 0o700)
        defer { try? FileManager.default.removeItem(at: other.url) }
        let device = try disk.status(at: other)?.identity.device
        try #require(device != (try disk.status(at: folder.path)?.identity.device))
        let far = PlayedCompiler(in: other)
        let target = folder.path("target")
        try await build(CoreMLPreparer(system: "15.1") { try await far.compile($0) }, at: target)
        #expect(try disk.files(below: target) == ["coremldata.bin", "weights/weight.bin"])
        #expect(try far.left.isEmpty)
    }

    // MARK: - By format

    @Test(arguments: [(ModelFormat.gguf, "one"), (.coreml, "two"), (.onnx, nil)] as [(ModelFormat, String?)])
    func eachFormatHasAPreparerOfItsOwn(_ format: ModelFormat, _ name: String?) async throws {
        let release = try await ModelStore(home: folder.path("home")).install(
            "tiny@1.0.0", weights: try folder.write("x", Data("x".utf8)), format: format)
        let both = FormatPreparer([.gguf: NamedPreparer(name: "one"), .coreml: NamedPreparer(name: "two")])
        let recipe = try await both.recipe(for: release)
        #expect(recipe?.engine == name)
        let target = folder.path("made")
        guard let recipe else { return }
        try await both.build(recipe, of: release, at: target) { _ in }
        #expect(try String(contentsOf: target.url, encoding: .utf8) == name)
    }

    /// An app that runs Core ML itself says so; else none of its models is chosen by an update.
    @Test func anAppAddsTheFormatsItRuns() throws {
        func formats(_ formats: Set<ModelFormat>?) throws -> Set<ModelFormat>? {
            try ModelManager(
                home: folder.path("home"), configuration: Configuration(), environment: [:], http: DefaultHTTPClient(),
                formats: formats
            ).formats
        }
        #expect(try formats([.gguf, .coreml]) == [.gguf, .coreml])
        #expect(try formats(nil) == nil)
    }

    /// What this build can make of a release is what its managers ask for.
    @Test func thisBuildsPreparerKnowsItsFormats() async throws {
        let release = try await pull(try manager())
        let recipe = try await EngineOpening.preparer(deviceMemory: 1 << 40).recipe(for: release)
        #if canImport(CoreML)
            #expect(recipe?.engine == "coreml")
        #else
            #expect(recipe == nil)
        #endif
        #if Llama
            let large = try await ModelStore(home: folder.path("home")).install(
                "large@1.0.0", weights: TestModel.path)
            // A little less than it takes as it came.
            let memory = large.receipt.totalSize + large.receipt.totalSize / 5 + (256 << 20) - 1
            #expect(
                try await EngineOpening.preparer(deviceMemory: memory).recipe(for: large)?.engine == "llama.cpp")
            // Who insists gets it as it came.
            for insists in [false, true] {
                var configuration = Configuration()
                configuration.ignoresMemory = insists
                let manager = try ModelManager(
                    home: folder.path("home"), configuration: configuration, environment: [:], deviceMemory: memory)
                let made = try await manager.preparer?.recipe(for: large)
                #expect((made == nil) == insists)
            }
        #endif
    }
}

/// Writes its name.
private struct NamedPreparer: ReleasePreparer {
    let name: String

    func recipe(for release: InstalledRelease) async throws -> PreparationRecipe? {
        PreparationRecipe(
            engine: name, engineVersion: "1", settings: "", fileName: "made", expectedSize: 1, summary: name)
    }

    func build(
        _ recipe: PreparationRecipe, of release: InstalledRelease, at target: Path,
        progress: @escaping @Sendable (Double) -> Void
    ) async throws { try Data(name.utf8).write(to: target.url) }
}
