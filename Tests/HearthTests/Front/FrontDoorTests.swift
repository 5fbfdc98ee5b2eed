import Foundation
import Hearth
import HearthBase
import HearthTestSupport
import Testing

/// What an app does with one object.
@Suite(.timeLimit(.minutes(10))) struct FrontDoorTests {
    private let folder: TemporaryFolder
    private let hearth: Hearth

    init() throws {
        folder = try TemporaryFolder()
        for (version, place) in [("1.0.0", "origin"), ("2.0.0", "later")] {
            let weights = Data("toy \(version)".utf8)
            try folder.write("\(place)/toy-v\(version).gguf", weights)
            try folder.write(
                "\(place)/models.json",
                Data(
                    #"""
                    {"schemaVersion": 1, "models": [{"id": "toy", "family": "toy", "version": "\#(version)",
                      "filename": "toy-v\#(version).gguf", "sizeBytes": \#(weights.count), "minAppVersion": "0.0.0",
                      "sha256": "\#(SHA256Digest(hashing: weights))", "downloadUrl": "toy-v\#(version).gguf"}]}
                    """#.utf8))
        }
        var engines = EngineRegistry()
        engines.register(.gguf) { _ in
            ScriptedEngine(Array(repeating: [.text("hello"), .finish(.endOfGeneration)], count: 10))
        }
        hearth = try Hearth(
            origins: [Origin("main", folder.path("origin/models.json").url)], home: folder.path("home").url,
            engines: engines)
    }

    @Test func aMissingModelIsFetchedLoadedAndAnswers() async throws {
        let read = Locked<[Double]>([])
        let model = try await hearth.model("toy") { progress in
            if let fraction = progress.fraction { read.withLock { $0.append(fraction) } }
        }
        #expect(read.withLock { $0.last } == 1)
        #expect(await model.release?.version.name == "1.0.0" && model.family?.name == "toy")
        #expect(try await LanguageModelSession(model: model).respond(to: "?").content == "hello")
        // An exact version is found without the origins.
        #expect(try await hearth.model("toy@1.0.0").release == model.release)
        let error = await #expect(throws: StoreError.self) { try await hearth.model("toy@9.0.0", policy: .localOnly) }
        #expect(error?.code == .notInstalled)
        await hearth.close()
    }

    @Test func anUpdateReplacesTheModelBetweenTwoAnswers() async throws {
        let model = try await hearth.model("toy", policy: .latest)
        var events = hearth.events.makeAsyncIterator()
        for name in ["toy-v2.0.0.gguf", "models.json"] {
            let data = try Data(contentsOf: folder.path("later/\(name)").url)
            try folder.write("origin/\(name)", data)
        }
        let updated = try await hearth.update()
        #expect(updated.map(\.version.name) == ["2.0.0"])
        #expect(await model.release == updated.first)
        var names: [String] = []
        while let event = await events.next() {
            if case .activated(let release) = event {
                names.append(release.identity.version.name)
                break
            }
        }
        #expect(names == ["2.0.0"])
        await hearth.close()
    }

    @Test func theFileOfTheUserIsNotInstalled() async throws {
        let model = try await hearth.open(folder.path("origin/toy-v1.0.0.gguf").url)
        #expect(try await LanguageModelSession(model: model).respond(to: "?").content == "hello")
        #expect(await model.release == nil)
        #expect(try await hearth.manager.installed().isEmpty)
        await hearth.close()
    }

    /// A view that reads again after it is told of a change sees the new value.
    @Test @MainActor func theLibraryIsReadAfterItsChange() async throws {
        let library = hearth.library
        #expect(library === hearth.library)
        await library.refresh()
        let toy = try #require(library.rows.first)
        let seen = Locked<[ModelState]>([])
        try library.download(toy.id)
        await until {
            let state = library.row(of: toy.id)?.state
            if let state { seen.withLock { $0.append(state) } }
            return state == .downloaded
        }
        #expect(seen.withLock { $0.last } == .downloaded)
        await hearth.close()
    }
}
