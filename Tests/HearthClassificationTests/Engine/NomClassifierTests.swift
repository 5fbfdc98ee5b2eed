import Foundation
import HearthBase
import HearthInference
import HearthTestSupport
import Testing

@testable import HearthClassification

@Suite(.enabled(if: ClassifierSupport.isBuilt), .timeLimit(.minutes(5))) struct NomClassifierTests {
    @Test(arguments: [11, 13, 17]) func itTellsTheClassOfAPicture(_ opset: Int) async throws {
        let lab = try ClassifierLab()
        var model = ONNXBuilder()
        model.opset = opset
        let classifier = try await ONNXClassifier.load(lab.write(model))
        #expect(classifier.information.classCount == 4)
        let answers = try await classifier.classify(ClassifierLab.pictures(), top: 4)
        #expect(answers.map { $0[0].label } == ["一", "二", "三", "四"])
        for answer in answers {
            #expect(abs(answer.reduce(0) { $0 + $1.confidence } - 1) < 1e-9)
            // The softmax of 10, 0, 0, 0.
            #expect(abs(answer[0].confidence - 0.999864) < 1e-5)
        }
    }

    @Test(arguments: [nil, 1, 4] as [Int?], [1, 3])
    func anyNumberOfPicturesIsOneCall(_ batch: Int?, _ threads: Int) async throws {
        let lab = try ClassifierLab()
        var model = ONNXBuilder()
        model.batch = batch
        let classifier = try await ONNXClassifier.load(ClassifierFiles(local: lab.write(model)), threads: threads)
        let pictures = try ClassifierLab.pictures()
        #expect(try await classifier.classify([], top: 1).isEmpty)
        // Of 16 side by side, and the rest alone.
        let answers = try await classifier.classify((0..<71).map { pictures[$0 * 7 % 13 % 4] }, top: 1)
        let labels = ["一", "二", "三", "四"]
        let expected = (0..<71).map { labels[$0 * 7 % 13 % 4] }
        #expect(answers.map { $0[0].label } == expected)
    }

    @Test func theCentreOfAWidePictureCounts() async throws {
        let lab = try ClassifierLab()
        let classifier = try await ONNXClassifier.load(lab.write())
        // 16 pixels of ink at the left are outside of the centred square.
        let square = ONNXBuilder.pixels(side: 16, ink: [0, 0, 0, 1])
        var rows: [UInt8] = []
        for row in 0..<16 {
            rows += [UInt8](repeating: 0, count: 16)
            rows += square[row * 16..<row * 16 + 16]
            rows += [UInt8](repeating: 255, count: 16)
        }
        let answer = try await classifier.classify(Picture(width: 48, height: 16, pixels: rows))
        #expect(answer[0].label == "四")
        #expect(answer[0].confidence > 0.999)
    }

    @Test func manyCallsAtOnceShareTheModel() async throws {
        let lab = try ClassifierLab()
        let classifier = try await ONNXClassifier.load(lab.write())
        let pictures = try ClassifierLab.pictures()
        try await withThrowingTaskGroup(of: [String].self) { group in
            for _ in 0..<16 {
                group.addTask { try await classifier.classify(pictures, top: 1).map { $0[0].label } }
            }
            for try await labels in group { #expect(labels == ["一", "二", "三", "四"]) }
        }
    }

    @Test func aCancelledCallEnds() async throws {
        let lab = try ClassifierLab()
        let classifier = try await ONNXClassifier.load(lab.write())
        let picture = try ClassifierLab.pictures()[0]
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return try await classifier.classify(Array(repeating: picture, count: 10_000), top: 1).count
        }
        await #expect(throws: CancellationError.self) { try await task.value }
    }

    @Test func theModelItselfMayDescribeItsInputAndClasses() async throws {
        let lab = try ClassifierLab()
        var model = ONNXBuilder()
        model.metadata = ["classifier": ONNXBuilder.settings, "classes": "4E00\n4E8C\n4E09\n56DB"]
        let classifier = try await ONNXClassifier.load(lab.write(model, settings: nil, labels: nil))
        let answer = try await classifier.classify(ClassifierLab.picture([0, 1, 0, 0]))
        #expect(answer[0].label == "二")
    }

    private static let isFull = ProcessInfo.processInfo.environment["HEARTH_TESTS"] == "full"

    @Test(.enabled(if: isFull)) func memoryStaysFlat() async throws {
        let lab = try ClassifierLab()
        let classifier = try await ONNXClassifier.load(lab.write())
        let pixels = ONNXBuilder.pixels(side: 48, ink: [1, 0, 0, 0])
        func classify(_ rounds: Int) async throws {
            for _ in 0..<rounds {
                let pictures = try (0..<100).map { _ in try Picture(width: 48, height: 48, pixels: pixels) }
                #expect(try await classifier.classify(pictures, top: 5).count == 100)
            }
        }
        try await classify(100)
        let before = try residentPages()
        try await classify(1000)
        // 100,000 pictures; 2,048 pages are 8 MiB.
        #expect(try residentPages() - before < 2048)
    }

    private func residentPages() throws -> Int {
        let fields = try String(contentsOfFile: "/proc/self/statm", encoding: .utf8).split(separator: " ")
        return try #require(Int(fields[1]))
    }

    // MARK: Refusals

    private func refusal(
        _ model: ONNXBuilder = ONNXBuilder(), settings: String? = ONNXBuilder.settings, labels: [String]? = nil,
        change: (inout ClassifierFiles) -> Void = { _ in }
    ) async throws -> String? {
        let lab = try ClassifierLab()
        let path = try lab.write(model, settings: settings, labels: labels ?? ["a", "b", "c", "d"])
        var files = try ClassifierFiles(local: path)
        change(&files)
        let changed = files
        return await HearthClassificationTests.refusal { _ = try await ONNXClassifier.load(changed) }
    }

    @Test func aModelOfAnotherWidthThanItsListIsRefused() async throws {
        var model = ONNXBuilder()
        model.classes = 6
        #expect(try await refusal(model) == "classifier-mismatched")
        #expect(try await refusal(labels: ["a", "b", "c"]) == "classifier-mismatched")
        #expect(try await refusal { $0.classCount = 972 } == "classifier-mismatched")
        let versioned = ONNXBuilder.settings.replacing("\"format\"", with: "\"classListVersion\": \"v2\", \"format\"")
        #expect(try await refusal(settings: versioned) { $0.classListVersion = "v1" } == "classifier-mismatched")
        #expect(try await refusal(settings: versioned) { $0.classListVersion = "v2" } == nil)
    }

    @Test func anUnknownOperatorIsNamed() async throws {
        let lab = try ClassifierLab()
        var model = ONNXBuilder()
        model.operatorName = "Teleport"
        let path = try lab.write(model)
        do {
            _ = try await ONNXClassifier.load(path)
            Issue.record("it was loaded")
        } catch let error as ClassificationError {
            #expect(error.code == .unsupportedModel)
            #expect(error.message == "model.onnx uses Teleport, which OpenVINO does not have")
        }
    }

    @Test(arguments: ["QuantizeLinear", "QLinearConv", "ConvInteger", "DynamicQuantizeLinear"])
    func roundedActivationsAreRefusedByName(_ name: String) async throws {
        let lab = try ClassifierLab()
        var model = ONNXBuilder()
        model.operatorName = name
        let error = await #expect(throws: ClassificationError.self) {
            _ = try await ONNXClassifier.load(lab.write(model))
        }
        #expect(error?.code == .unsupportedModel)
        #expect(error?.message.contains(name) == true)
    }

    @Test func aModelThatNothingDescribesIsRefused() async throws {
        #expect(try await refusal(settings: nil) == "classifier-undescribed")
        let wide = ONNXBuilder.settings.replacing("\"width\": 8", with: "\"width\": 16")
        #expect(try await refusal(settings: wide) == "classifier-unsupported")
        #expect(try await refusal(labels: ["a", "a", "c", "d"]) == "class-list-unusable")
        #expect(try await refusal { $0.labels = nil } == "class-list-unusable")
        #expect(try await refusal { $0.model = Path("/nowhere.onnx") } == "classifier-unreadable")
    }

    @Test func aBrokenModelIsRefused() async throws {
        let lab = try ClassifierLab()
        try lab.write()
        let bytes = ONNXBuilder().bytes
        for count in [0, 10, bytes.count / 2, bytes.count - 5] {
            let path = try lab.folder.write("cut.onnx", Data(bytes.prefix(count)))
            #expect(
                await HearthClassificationTests.refusal { _ = try await ONNXClassifier.load(path) }
                    == "classifier-unreadable")
        }
    }

    @Test func thePublishersPictureMustBeKnown() async throws {
        let lab = try ClassifierLab()
        try lab.folder.write("canary.png", Data(ClassifierLab.picture([0, 0, 1, 0]).png()))
        func settings(_ label: String) -> String {
            ONNXBuilder.settings.replacing(
                "\"format\"", with: "\"canary\": {\"picture\": \"canary.png\", \"label\": \"\(label)\"}, \"format\"")
        }
        let path = try lab.write(settings: settings("4E09"))
        _ = try await ONNXClassifier.load(path)
        try lab.write(settings: settings("4E00"))
        #expect(
            await HearthClassificationTests.refusal { _ = try await ONNXClassifier.load(path) }
                == "classifier-canary-missed")
    }

    /// A confined process may open these files and no others.
    @Test func theFilesOfALoadAreKnown() throws {
        let lab = try ClassifierLab()
        for name in ["canary.png", "other.PNG", "letter.txt"] { try lab.folder.write(name, Data()) }
        func opened() throws -> [String] {
            try ClassifierFiles(local: lab.folder.path("model.onnx")).opened().map(\.lastComponent)
        }
        try lab.write()
        #expect(try opened() == ["model.onnx", "classifier.json", "classes.txt"])
        let canary = "\"canary\": {\"picture\": \"canary.png\", \"label\": \"4E09\"}, \"format\""
        try lab.write(settings: ONNXBuilder.settings.replacing("\"format\"", with: canary))
        #expect(try opened() == ["model.onnx", "classifier.json", "classes.txt", "canary.png"])
        try lab.write(settings: "no JSON")
        #expect(HearthClassificationTests.refusal(now: { _ = try opened() }) == "classifier-settings-unusable")
        try FileManager.default.removeItem(atPath: lab.folder.path("classifier.json").string)
        #expect(try opened() == ["model.onnx", "classes.txt", "canary.png", "other.PNG"])
    }

    @Test func aMissingLibraryIsNamed() {
        #expect(
            HearthClassificationTests.refusal(now: { _ = try NetworkLibrary(path: "/nowhere/libopenvino_c.so") })
                == "vision-missing")
        #expect(
            HearthClassificationTests.refusal(now: { _ = try PictureLibrary(path: "/nowhere/libhearth-pictures.so") })
                == "vision-missing")
    }
}
