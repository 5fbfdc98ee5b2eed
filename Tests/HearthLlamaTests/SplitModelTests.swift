#if Llama
import Foundation
import HearthBase
import HearthInference
@testable import HearthLlama
import HearthTestSupport
import Testing

extension RealModel {
    /// A model in three files: planned and loaded like the same model in one file, and refused if a part is wrong.
    @Suite struct SplitModelTests {
        private static let configuration = LlamaConfiguration(contextLength: 512, threadCount: 1)

        /// A folder with copies of the parts, and the path of the first.
        private func copy() throws -> (TemporaryFolder, [Path]) {
            let folder = try TemporaryFolder()
            let first = try TestModel.path(.split)
            let paths = try #require(GGUFHeader(file: first).parts(at: first))
            #expect(paths.count == 3)
            return (
                folder,
                try paths.map { path in
                    try folder.write(path.lastComponent, Data(contentsOf: URL(filePath: path.string)))
                }
            )
        }

        private func refusal(of path: Path) throws -> LLMError {
            try #require(throws: LLMError.self) { try ModelFile.check(path, as: .model) }
        }

        @Test func itAnswersAsTheWholeOne() async throws {
            var answers: [String] = []
            for model in [TestModel.Tiny.window, .split] {
                let engine = try await LlamaActor.load(TestModel.path(model), configuration: Self.configuration)
                let answer = try await Answer(
                    engine.generate(capitalOfFrance, options: .greedy(maximumNewTokens: 24)))
                answers.append(answer.text)
                await engine.unload()
            }
            #expect(!answers[0].isEmpty && answers[0] == answers[1])
        }

        /// Its weights are those of all files, whose headers need some more bytes.
        @Test func itIsPlannedAsTheWholeOne() throws {
            let plan = {
                try #require(LoadPlan(TestModel.path($0), projector: nil, configuration: Self.configuration))
            }
            let (whole, split) = (try plan(TestModel.Tiny.window).estimate, try plan(.split).estimate)
            #expect(whole.cache > 0 && whole.cache == split.cache && whole.compute == split.compute)
            #expect((whole.weights..<whole.weights + 4096).contains(split.weights), "\(whole) \(split)")
        }

        /// The error has both numbers, and comes before the model is read.
        @Test func aModelThatDoesNotFitIsRefused() async throws {
            var configuration = Self.configuration
            configuration.deviceMemory = 264 << 20
            let error = await #expect(throws: LLMError.self) {
                try await LlamaActor.load(TestModel.path(.split), configuration: configuration)
            }
            #expect(error?.code == .doesNotFit, "\(String(describing: error))")
        }

        @Test func aMissingPartIsNamed() throws {
            let (folder, paths) = try copy()
            defer { withExtendedLifetime(folder) {} }
            try ModelFile.check(paths[0], as: .model)
            try FileManager.default.removeItem(atPath: paths[1].string)
            let error = try refusal(of: paths[0])
            #expect(error.code == .cannotLoad && error.message.contains(paths[1].lastComponent), "\(error)")
            #expect(
                error.message.contains("there is no such file") && error.context.remedy?.contains("3 parts") == true
            )
            #expect(LoadPlan(paths[0], projector: nil, configuration: Self.configuration) == nil)
        }

        @Test func aPartThatEndsTooSoonIsNamed() throws {
            let (folder, paths) = try copy()
            defer { withExtendedLifetime(folder) {} }
            let data = try Data(contentsOf: URL(filePath: paths[2].string))
            _ = try folder.write(paths[2].lastComponent, data.dropLast(64))
            #expect(try refusal(of: paths[0]).message.contains(paths[2].lastComponent))
        }

        @Test func anotherPartInItsPlaceIsRefused() throws {
            let (folder, paths) = try copy()
            defer { withExtendedLifetime(folder) {} }
            _ = try folder.write(paths[2].lastComponent, Data(contentsOf: URL(filePath: paths[1].string)))
            let error = try refusal(of: paths[0])
            #expect(
                error.message.contains("it is part 2 of 3") && error.context.expected == "part 3 of 3", "\(error)")
        }

        /// llama.cpp would not find the other parts, but only after the present model is unloaded.
        @Test func onlyTheFirstPartUnderItsOwnNameIsOpened() throws {
            let (folder, paths) = try copy()
            defer { withExtendedLifetime(folder) {} }
            let second = try refusal(of: paths[1])
            #expect(second.message.contains("it is part 2 of 3") && second.context.remedy != nil, "\(second)")
            let renamed = try folder.write("model.gguf", Data(contentsOf: URL(filePath: paths[0].string)))
            #expect(try refusal(of: renamed).message.contains("it is part 1 of 3"))
        }
    }
}
#endif
