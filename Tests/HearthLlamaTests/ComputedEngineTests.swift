#if Llama
import Foundation
import HearthBase
import HearthInference
@testable import HearthLlama
import HearthTestSupport
import Testing

/// A computer that dictates an answer after each prompt.
private final class ScriptedComputer: TokenComputer {
    /// The course of all computations, read by the test.
    struct Course: Sendable {
        var computed: [Int] = []
        var held: [TokenID] = []
        var isWaiting = false
    }

    let vocabularySize: Int
    private let script: [TokenID]
    private let spoils: Float?
    private let waits: Bool
    private let course: Locked<Course>
    private var spoken = 0

    /// - Parameters:
    ///   - spoils: the logit of all tokens in place of the script's.
    ///   - waits: whether prompts are never finished.
    init(
        _ script: [TokenID], vocabularySize: Int, spoils: Float? = nil, waits: Bool = false,
        course: Locked<Course> = Locked(Course())
    ) {
        self.script = script
        self.vocabularySize = vocabularySize
        self.spoils = spoils
        self.waits = waits
        self.course = course
    }

    func truncate(to count: Int) { course.withLock { $0.held = Array($0.held.prefix(count)) } }

    func compute(
        _ tokens: ArraySlice<TokenID>, logits: UnsafeMutablePointer<Float>?, isStopped: () -> Bool
    ) throws -> Bool {
        if waits, tokens.count > 1 {
            course.withLock { $0.isWaiting = true }
            while !isStopped() { sched_yield() }
            return false
        }
        if isStopped() { return false }
        course.withLock { course in
            course.computed.append(tokens.count)
            course.held += tokens
        }
        spoken = tokens.count > 1 ? 0 : spoken + 1
        guard let logits else { return true }
        for index in 0..<vocabularySize { logits[index] = spoils ?? Float(index % 7) }
        if spoils == nil, spoken < script.count { logits[Int(script[spoken])] = 100 }
        return true
    }
}

extension RealModel {
    /// Answers whose tokens another library computes.
    @Suite struct ComputedAnswers {
        private static let path = Result { try TestModel.path(.plain) }

        /// The header of the tiny model, which holds its vocabulary and template.
        private static func vocabulary() throws -> [UInt8] {
            let path = try path.get()
            let header = try GGUFHeader(file: path)
            let end = try #require(header.tensors?.dataOffset)
            return Array(try Data(contentsOf: URL(filePath: path.string)).prefix(Int(end)))
        }

        private static let weights = Result { try ModelWeights(vocabulary: vocabulary(), of: path.get()) }

        private func engine(
            saying text: String, spoils: Float? = nil, waits: Bool = false,
            course: Locked<ScriptedComputer.Course> = Locked(ScriptedComputer.Course()), window: Int = 512
        ) async throws -> ComputedEngine {
            let vocabulary = try Self.weights.get().vocabulary
            let end = try #require(vocabulary.endToken)
            let script = try vocabulary.tokens(of: text, addSpecial: false, parseSpecial: true) + [end]
            let engine = ComputedEngine(name: "test.computed")
            let size = vocabulary.count
            try await engine.load(
                vocabulary: Self.vocabulary(), of: Self.path.get(),
                information: ModelInformation(description: "scripted", contextLength: window)
            ) {
                ScriptedComputer(script, vocabularySize: size, spoils: spoils, waits: waits, course: course)
            }
            return engine
        }

        @Test func areShownAndCounted() async throws {
            let engine = try await engine(saying: "It is Paris, of course.")
            let answer = try await Answer(engine.generate(capitalOfFrance, options: .greedy()))
            #expect(answer.text == "It is Paris, of course.")
            #expect(answer.summary?.reason == .endOfGeneration)
            let counted = try await engine.count(capitalOfFrance)
            #expect(answer.summary?.usage.promptTokens == counted)
            #expect(try answer.summary?.usage.generatedTokens == Self.tokens(of: "It is Paris, of course.").count)
        }

        private static func tokens(of text: String) throws -> [TokenID] {
            try weights.get().vocabulary.tokens(of: text, addSpecial: false, parseSpecial: false)
        }

        @Test func reuseTheTokensOfTheTurnBefore() async throws {
            let course = Locked(ScriptedComputer.Course())
            let engine = try await engine(saying: "Paris.", course: course)
            let first = try await Answer(engine.generate(capitalOfFrance, options: .greedy()))
            let messages = capitalOfFrance + [ChatMessage(.assistant, first.text), ChatMessage(.user, "And of Spain?")]
            let second = try await Answer(engine.generate(messages, options: .greedy()))
            let used = try #require(second.summary?.usage)
            #expect(used.cachedTokens >= first.summary?.usage.promptTokens ?? .max)
            let held = course.withLock { $0.held }
            #expect(held.count == used.promptTokens + used.generatedTokens)
            var options = GenerationOptions.greedy()
            options.reusesPrompt = false
            let third = try await Answer(engine.generate(messages, options: options))
            #expect(third.summary?.usage.cachedTokens == 0 && third.text == second.text)
        }

        @Test func endAtTheirLimits() async throws {
            let engine = try await engine(saying: String(repeating: "one two three ", count: 60), window: 120)
            let short = try await Answer(engine.generate(capitalOfFrance, options: .greedy(maximumNewTokens: 5)))
            #expect(short.summary?.reason == .maximumNewTokens && short.summary?.usage.generatedTokens == 5)
            var stopped = GenerationOptions.greedy()
            stopped.stopStrings = [" three"]
            // The script begins with a prompt of more than one token.
            stopped.reusesPrompt = false
            let cut = try await Answer(engine.generate(capitalOfFrance, options: stopped))
            #expect(cut.summary?.reason == .stopString && cut.text == "one two")
            var free = GenerationOptions.greedy(maximumNewTokens: .max)
            free.maximumRepeats = nil
            free.reusesPrompt = false
            #expect(try await Answer(engine.generate(capitalOfFrance, options: free)).summary?.reason == .contextFull)
        }

        @Test func areTheSameForTheSameSeed() async throws {
            // All tokens are about as likely.
            let engine = try await engine(saying: "", spoils: 1)
            func text(_ seed: UInt32) async throws -> String {
                let options = GenerationOptions(
                    sampling: SamplingOptions(temperature: 1, seed: seed, topK: 500), maximumNewTokens: 12)
                return try await Answer(engine.generate(capitalOfFrance, options: options)).text
            }
            let first = try await text(7)
            #expect(try await text(7) == first)
            #expect(try await text(8) != first)
        }

        @Test func fitTheirSchema() async throws {
            let engine = try await engine(saying: "no JSON at all")
            var options = GenerationOptions.greedy(maximumNewTokens: 64)
            options.constraint = .jsonSchema(JSONSchema.object([.init("yes", .boolean)]).json)
            let answer = try await Answer(engine.generate(capitalOfFrance, options: options))
            #expect(try JSONValue(parsing: Data(answer.text.utf8))["yes"]?.flag != nil)
        }

        @Test func leaveNothingBehindWithoutNumbers() async throws {
            let course = Locked(ScriptedComputer.Course())
            let engine = try await engine(saying: "", spoils: .nan, course: course)
            let error = await #expect(throws: LLMError.self) {
                try await engine.generate(capitalOfFrance, options: .greedy()) { _ in }
            }
            #expect(error?.code == .notFinite)
            #expect(course.withLock { $0.held.isEmpty })
        }

        @Test func stopInThePromptAndLeaveTheEngineUsable() async throws {
            let course = Locked(ScriptedComputer.Course())
            let engine = try await engine(saying: "Yes.", waits: true, course: course)
            let running = Task { try await engine.generate(capitalOfFrance, options: .greedy()) { _ in } }
            while !course.withLock({ $0.isWaiting }) { await Task.yield() }
            // A waiting request ends with its time.
            var brief = GenerationOptions.greedy()
            brief.timeout = .milliseconds(1)
            let summary = try await engine.generate(capitalOfFrance, options: brief) { _ in }
            #expect(summary.reason == .timedOut)
            // The queue takes 64 requests, and each of them ends with its caller.
            let refused = Locked(0)
            let waiting = (0..<70).map { _ in
                Task {
                    do {
                        _ = try await engine.generate(capitalOfFrance, options: .greedy()) { _ in }
                    } catch let error as LLMError where error.code == .busy {
                        refused.withLock { $0 += 1 }
                    }
                }
            }
            while refused.withLock({ $0 < 6 }) { await Task.yield() }
            for task in waiting { task.cancel() }
            running.cancel()
            var cancelled = 0
            for task in waiting {
                do { try await task.value } catch is CancellationError { cancelled += 1 }
            }
            #expect(cancelled == 64)
            await #expect(throws: CancellationError.self) { try await running.value }
            await engine.unload()
            let error = await #expect(throws: LLMError.self) {
                try await engine.generate(capitalOfFrance, options: .greedy()) { _ in }
            }
            #expect(error?.code == .modelNotLoaded)
        }

        @Test func refuseNumbersThatAreNoTokens() async throws {
            let engine = try await engine(saying: "Yes.")
            for number in [-1, TokenID.max] {
                var options = GenerationOptions.greedy()
                options.usesChatTemplate = false
                options.promptTokens = [1, number]
                let error = await #expect(throws: LLMError.self) {
                    try await engine.generate([], options: options) { _ in }
                }
                #expect(error?.code == .generateFailed)
            }
        }

        @Test func areNotLoadedWithAnotherVocabulary() async throws {
            let engine = ComputedEngine(name: "test.computed")
            for bytes in [[], Array("GGUF".utf8), Array(try Self.vocabulary().prefix(1000))] {
                let error = await #expect(throws: LLMError.self) {
                    try await engine.load(
                        vocabulary: bytes, of: Self.path.get(),
                        information: ModelInformation(description: "scripted", contextLength: 512)
                    ) { ScriptedComputer([], vocabularySize: 5) }
                }
                #expect(error?.code == .cannotLoad)
            }
            let error = await #expect(throws: LLMError.self) {
                try await engine.load(
                    vocabulary: Self.vocabulary(), of: Self.path.get(),
                    information: ModelInformation(description: "scripted", contextLength: 512)
                ) { ScriptedComputer([], vocabularySize: 5) }
            }
            #expect(error?.code == .cannotLoad)
        }
    }
}
#endif
