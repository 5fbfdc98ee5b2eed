import Foundation
import Hearth
import HearthBase
import HearthClassification
import HearthInference
import HearthRouting
import HearthTestSupport
import Testing

@testable import HearthCommand

/// `hearth classify` with a small model file.
@Suite(.enabled(if: ClassifierSupport.isBuilt), .timeLimit(.minutes(5))) struct ClassifyCommandTests {
    private struct Cloud: RemoteEngine, ForwardingEngine {
        let engine: ScriptedEngine
        let address = URL(string: "http://127.0.0.1:1") ?? URL(filePath: "/")

        func checkHealth() async throws {}
    }

    private let folder: TemporaryFolder
    private let model: String
    private let page = QuadrantPage(columns: 2, rows: 3)
    private let names = ["一", "二", "三", "四"]

    init() throws {
        folder = try TemporaryFolder()
        let settings = ONNXBuilder.settings.replacing("\"width\"", with: "\"margin\": 0, \"width\"")
        try folder.write("classifier.json", Data(settings.utf8))
        try folder.write("classes.txt", Data("4E00\n4E8C\n4E09\n56DB\n".utf8))
        model = try folder.write("model.onnx", Data(ONNXBuilder().bytes)).string
        let square = try Picture(width: 8, height: 8, pixels: ONNXBuilder.pixels(ink: [0, 0, 1, 0]))
        try folder.write("c.png", Data(square.png()))
        try folder.write("page.png", Data(Picture(width: page.width, height: page.height, pixels: page.pixels).png()))
    }

    private func run(_ words: String..., cloud: [[ScriptedEngine.Step]]? = nil) async -> (
        probe: CommandProbe, status: Int32
    ) {
        var probe = CommandProbe(home: folder.path("home"))
        if let cloud {
            probe.cloud = CloudModel(engine: Cloud(engine: ScriptedEngine(cloud)), name: "claude", hasOwnKey: true)
        }
        let status = await probe.run(["classify", "--model", model] + words)
        return (probe, status)
    }

    private func events(_ probe: CommandProbe) throws -> [[String: Any]] {
        try probe.output.contents.split(separator: "\n").map { line in
            try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
        }
    }

    @Test func aPictureHasItsLikeliestClasses() async throws {
        let picture = folder.path("c.png").string
        let (probe, status) = await run("--top", "2", picture)
        #expect(status == 0, "\(probe.errors.contents)")
        #expect(probe.output.contents == "\(picture): 三 100.0%, 一 0.0%\n")
        let (json, _) = await run("--format", "json", picture, picture)
        let events = try events(json)
        #expect(events.count == 2)
        let candidates = try #require(events[0]["candidates"] as? [[String: Any]])
        #expect(candidates.map { $0["label"] as? String } == ["三", "一", "二", "四"])
    }

    @Test func aPageIsALineForEachColumn() async throws {
        let (probe, status) = await run("--decode", folder.path("page.png").string)
        #expect(status == 0, "\(probe.errors.contents)")
        let text = page.classes.map { names[$0] }
        #expect(probe.output.contents == text.prefix(3).joined() + "\n" + text.suffix(3).joined() + "\n")
        #expect(probe.errors.contents.contains("6 characters: 6 sure, 0 fairly sure, 0 by the cloud, 0 unverified"))
        let (json, _) = await run("--decode", "--format", "json", folder.path("page.png").string)
        let events = try events(json)
        #expect(events.map { $0["event"] as? String } == ["page"] + Array(repeating: "character", count: 6) + ["done"])
        #expect(events.last?["accepted"] as? Int == 6)
    }

    @Test func onlyUncertainCharactersGoToTheCloud() async throws {
        let settings = ONNXBuilder.settings.replacing(
            "\"format\"", with: "\"thresholds\": {\"green\": 1, \"yellow\": 1}, \"format\"")
        try folder.write("classifier.json", Data(settings.utf8))
        let answers: [[ScriptedEngine.Step]] = Array(
            repeating: [.text("國"), .finish(.endOfGeneration)], count: 8)
        let page = folder.path("page.png").string
        let (local, _) = await run("--decode", page, cloud: answers)
        #expect(local.output.contents.contains("一"))
        #expect(local.errors.contents.contains("6 unverified"))
        let (probe, status) = await run("--decode", "--cloud", page, cloud: answers)
        #expect(status == 0, "\(probe.errors.contents)")
        #expect(probe.output.contents == "國國國\n國國國\n")
        #expect(probe.errors.contents.contains("asking the cloud about 6 characters"))
        #expect(await run("--decode", "--cloud", page).status == 64)
    }

    @Test(arguments: ["absent.png", "classes.txt", "folder", "bomb.png", "animation.gif"]) func badInputIsNamed(
        _ name: String
    ) async throws {
        try folder.write("folder/x", Data())
        try folder.write("animation.gif", Data("GIF89a".utf8))
        try folder.write("bomb.png", Data(TestPictures.png(width: 1 << 20, height: 1 << 20, packed: [0x78, 1, 3, 0])))
        let (probe, status) = await run(folder.path(name).string)
        #expect(status == 1)
        #expect(probe.errors.contents.contains(name == "bomb.png" ? "[picture-too-large]" : "[cannot-read-picture]"))
        #expect(probe.errors.contents.contains(name))
    }

    @Test func withoutAClassifierItSaysHowToGetOne() async throws {
        let probe = CommandProbe(home: folder.path("home"))
        #expect(await probe.run("classify", folder.path("c.png").string) == 1)
        #expect(probe.errors.contents.contains("no classifier is installed"))
        #expect(probe.errors.contents.contains("hearth pull REF"))
        #expect(await probe.run("classify", "--cloud", "x.png") == 64)
    }
}
