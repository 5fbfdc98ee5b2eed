import Foundation
import HearthBase
import HearthClassification
import HearthTestSupport
import Testing

@testable import HearthApple

/// A model that answers with given confidences.
struct FakeModel: PictureModel {
    var labels: [String]? = ["4EBA", "5927"]
    var inputWidth = 64
    var inputHeight = 64
    var isGrey = true
    var answers: [(label: String, confidence: Double)] = [("5927", 0.25), ("4EBA", 0.75)]
    var seen = Locked<[PictureCrop]>([])
    var failure: CocoaError?

    func classify(_ picture: ModelPicture, crop: PictureCrop) throws -> [(label: String, confidence: Double)] {
        seen.withLock { $0.append(crop) }
        if let failure { throw failure }
        return answers
    }
}

/// A compiler whose compiled models are folders of the bytes of the model, twice.
final class FakeCompiler: PictureModelCompiler {
    private struct Values {
        var compiled = 0
        var loaded: [Path] = []
        var rejects = false
    }

    private let folder: TemporaryFolder
    private let values = Locked(Values())

    init(_ folder: TemporaryFolder) { self.folder = folder }

    var compiledCount: Int { values.withLock { $0.compiled } }
    var loadedCount: Int { values.withLock { $0.loaded.count } }
    /// Lets the compiler refuse every model.
    func reject() { values.withLock { $0.rejects = true } }

    func compile(_ model: Path) async throws -> Path {
        let number = values.withLock { values in
            values.compiled += 1
            return values.rejects ? nil : values.compiled
        }
        guard let number else { throw CocoaError(.fileReadCorruptFile) }
        let data = try Data(contentsOf: model.url.hasDirectoryPath ? model.joined("weights").url : model.url)
        try folder.write("tmp-\(number)/model.mil", data)
        try folder.write("tmp-\(number)/weights/weight.bin", data + data)
        return folder.path("tmp-\(number)")
    }

    func load(_ compiled: Path) async throws -> any PictureModel {
        values.withLock { $0.loaded.append(compiled) }
        let weights = try Data(contentsOf: compiled.joined("weights").joined("weight.bin").url)
        guard !weights.starts(with: Data("damaged".utf8)) else { throw CocoaError(.fileReadCorruptFile) }
        return FakeModel()
    }
}

@Suite struct CompiledModelsTests {
    private let folder: TemporaryFolder
    private let disk = FaultyFileSystem()
    private let compiler: FakeCompiler
    private let cache: Path

    init() throws {
        folder = try TemporaryFolder()
        compiler = FakeCompiler(folder)
        cache = folder.path("cache")
    }

    private func models() -> CompiledModels { CompiledModels(folder: cache, compiler: compiler, fileSystem: disk) }

    private func model(_ text: String, _ name: String = "a.mlmodel") throws -> Path {
        try folder.write(name, Data(text.utf8))
    }

    private func entries() throws -> [Path] {
        try LocalFileSystem().contents(of: cache).filter { !$0.hasPrefix(".") }.map { cache.joined($0) }
    }

    @Test func aModelIsCompiledOnceForAllProcesses() async throws {
        let model = try model("one")
        for _ in 0..<3 { _ = try await models().load(model) }
        #expect(compiler.compiledCount == 1)
        #expect(compiler.loadedCount == 3)
        let digest = SHA256Digest(hashing: Data("one".utf8)).hex
        #expect(try entries().map(\.lastComponent) == [digest])
        // The same model under another name is the same one.
        _ = try await models().load(try self.model("one", "b.mlmodel"))
        #expect(compiler.compiledCount == 1)
    }

    @Test func aPackageIsKnownByAllItsFiles() async throws {
        let first = try folder.write("p.mlpackage/weights", Data("w".utf8)).parent
        let digests = ModelDigest(fileSystem: disk)
        let before = try digests.digest(of: first, StopFlag())
        try folder.write("p.mlpackage/Manifest.json", Data("{}".utf8))
        let added = try digests.digest(of: first, StopFlag())
        try LocalFileSystem().rename(first.joined("Manifest.json"), to: first.joined("Other.json"))
        #expect(Set([before, added, try digests.digest(of: first, StopFlag())]).count == 3)
    }

    @Test func loadsAtTheSameTimeCompileOnce() async throws {
        let model = try model("one")
        let models = models()
        let sum = try await withThrowingTaskGroup(of: Int.self) { group in
            for _ in 0..<6 { group.addTask { try await models.load(model).inputWidth } }
            return try await group.reduce(0, +)
        }
        #expect(sum == 6 * 64)
        #expect(compiler.compiledCount == 1)
    }

    @Test func aTruncatedFileIsCompiledAgain() async throws {
        let model = try model("one")
        _ = try await models().load(model)
        let weights = try #require(try entries().first).joined("model.mlmodelc").joined("weights").joined("weight.bin")
        try Data("on".utf8).write(to: weights.url)
        _ = try await models().load(model)
        #expect(compiler.compiledCount == 2)
        #expect(try Data(contentsOf: weights.url) == Data("oneone".utf8))
    }

    @Test func aFileThatDoesNotLoadIsCompiledAgain() async throws {
        let model = try model("1234567")
        _ = try await models().load(model)
        let weights = try #require(try entries().first).joined("model.mlmodelc").joined("weights").joined("weight.bin")
        try Data("damaged1234567".utf8).write(to: weights.url)
        _ = try await models().load(model)
        #expect(compiler.compiledCount == 2)
        _ = try await models().load(model)
        #expect(compiler.compiledCount == 2)
    }

    @Test func aModelThatDoesNotCompileIsNamed() async throws {
        let model = try model("one")
        compiler.reject()
        #expect(await code { _ = try await models().load(model) } == "classifier-unreadable")
        #expect(!FileManager.default.fileExists(atPath: cache.string))
        let missing = folder.path("none.mlmodel")
        #expect(await code { _ = try await models().load(missing) } == "file-not-found")
    }

    @Test func aModelThatLoadsNeverIsCompiledOnlyTwice() async throws {
        let model = try model("damaged")
        for count in 1...2 {
            #expect(await code { _ = try await models().load(model) } == "classifier-unreadable")
            #expect(compiler.compiledCount == count)
        }
    }

    @Test(arguments: [FaultyFileSystem.Operation.rename, .makeFolder, .synchronizeFolder, .write])
    func aFailedMoveLeavesNothingBehind(_ operation: FaultyFileSystem.Operation) async throws {
        let model = try model("one")
        try LocalFileSystem().makeFolders(cache)
        disk.fail(call: operation == .synchronizeFolder ? 2 : 1, of: operation, errno: ENOSPC)
        #expect(await code { _ = try await models().load(model) } == "disk-full")
        #expect(try entries().allSatisfy { !$0.lastComponent.hasPrefix(".") })
        disk.heal()
        _ = try await models().load(model)
        #expect(try entries().count == 1)
    }

    @Test func aLaunchBeforeTheFirstUnlockRebuildsNothing() async throws {
        let model = try model("one")
        _ = try await models().load(model)
        disk.fail(call: 1, of: .openExisting, errno: EPERM, stays: true)
        #expect(await code { _ = try await models().load(model) } == "classifier-not-ready")
        // The model can be read, its compiled form not.
        disk.fail(call: 2, of: .openExisting, errno: EPERM, stays: true)
        #expect(await code { _ = try await models().load(model) } == "classifier-not-ready")
        disk.heal()
        _ = try await models().load(model)
        #expect(compiler.compiledCount == 1)
    }

    @Test func theModelBeforeIsKeptForARollback() async throws {
        for text in ["one", "two", "three"] { _ = try await models().load(try model(text)) }
        #expect(try entries().count == 2)
        _ = try await models().load(try model("two"))
        #expect(compiler.compiledCount == 3)
        _ = try await models().load(try model("one"))
        #expect(compiler.compiledCount == 4)
    }

    @Test func aCompiledModelIsLoadedWhereItLies() async throws {
        let model = try model("one", "c.mlmodelc/model.mil").parent
        try folder.write("c.mlmodelc/weights/weight.bin", Data("w".utf8))
        _ = try await models().load(model)
        #expect(compiler.compiledCount == 0)
        #expect(!FileManager.default.fileExists(atPath: cache.string))
    }
}

@Suite struct CoreMLClassifierTests {
    @Test func theLikeliestIsFirstAndCodePointsAreCharacters() async throws {
        let model = FakeModel()
        let classifier = try CoreMLClassifier(model, name: "hanzi", crop: .scaleFit)
        #expect(classifier.information.classCount == 2)
        let answer = try await classifier.classify(file: Data(), top: 5)
        #expect(answer == [Candidate("人", 0.75), Candidate("大", 0.25)])
        #expect(try await classifier.classify(file: Data(), top: 1).count == 1)
        // The first picture is the empty one that warms the model.
        #expect(model.seen.withLock { $0 } == [.scaleFit, .scaleFit, .scaleFit])
    }

    @Test func picturesKeepTheirOrder() async throws {
        let classifier = try CoreMLClassifier(FakeModel(), name: "hanzi", crop: .centerCrop)
        let picture = try Picture(width: 2, height: 1, pixels: [0, 255])
        let answers = try await classifier.classify([picture, picture], top: 1)
        #expect(answers == [[Candidate("人", 0.75)], [Candidate("人", 0.75)]])
        #expect(try await classifier.classify([], top: 1).isEmpty)
    }

    @Test func wordsStayWords() async throws {
        var model = FakeModel(labels: ["bad", "face"])
        model.answers = [("bad", 0.5), ("face", 0.5)]
        let classifier = try CoreMLClassifier(model, name: "words", crop: .scaleFill)
        #expect(try await classifier.classify(file: Data()).map(\.label) == ["bad", "face"])
    }

    @Test func aModelThatFailsIsNotWarmed() async {
        let model = FakeModel(failure: CocoaError(.featureUnsupported))
        #expect(await code { _ = try CoreMLClassifier(model, name: "x", crop: .centerCrop) } == "classification-failed")
        let doubled = FakeModel(labels: ["a", "a"])
        #expect(await code { _ = try CoreMLClassifier(doubled, name: "x", crop: .centerCrop) } == "class-list-unusable")
    }
}
