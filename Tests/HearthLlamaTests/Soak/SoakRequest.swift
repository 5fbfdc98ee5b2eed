#if Llama
import Foundation
import HearthBase
import HearthInference
import HearthLlama
import HearthTestSupport

/// A request of any kind, and its end.
struct SoakRequest {
    let engine: LlamaActor
    private var random: SeededGenerator

    init(_ engine: LlamaActor, seed: UInt64) {
        self.engine = engine
        random = SeededGenerator(seed: seed)
    }

    enum Kind: CaseIterable {
        case plain, letGo, cancelled, stopped, tooLong, truncated, tinyLimit, timeout, picture, brokenPicture
        case grammar, wrongGrammar, penalties, vectors, tooLongVectors, count, answersForVision
        case cancelledPictures, tools, thinking, answerNow, schema, prepared, reloaded
    }

    /// When memory is counted, no model is loaded or unloaded: a model being read would hide a leak.
    private static let kinds = Kind.allCases.filter { $0 != .reloaded || !SoakSize.isFull }

    /// Loads the model for vision beside other requests.
    static func loadForVision(_ engine: LlamaActor) async throws {
        try await engine.load(TestModel.path(.grid), role: .vision, projector: TestModel.path(.gridProjector))
    }

    /// The template describes tools and makes the model think.
    static let template =
        ToolTemplates.hermes
        + "{%- if add_generation_prompt and enable_thinking %}{{- '<think>\\n' }}{%- endif %}"

    private static let weather = ToolDefinition(
        name: "weather", description: "Tells the weather.",
        parameters: JSONSchema.object([.init("city", .oneOf([#""Paris""#, #""Rome""#]))]).json)

    /// Makes one request.
    /// - Returns: the reason of its end: that of the summary, the code of the error, or the name of the
    ///   interruption.
    mutating func make() async throws -> String {
        let kind = Self.kinds.randomElement(using: &random) ?? .plain
        var options = GenerationOptions.seeded(
            UInt32.random(in: 0...999, using: &random), maximumNewTokens: Int.random(in: 1...12, using: &random))
        options.thinking = .disabled
        var messages = [ChatMessage(.user, text(words: Int.random(in: 2...12, using: &random)))]
        var role = EngineRole.text
        var press: Int?
        switch kind {
        case .plain: break
        case .letGo: return try await letGo(messages)
        case .cancelled: return try await cancelled(messages)
        case .stopped: options.stopStrings = ["e", "."]
        case .tooLong: messages = [ChatMessage(.user, text(words: 4000))]
        case .truncated:
            messages =
                (0..<12).flatMap { _ in
                    [ChatMessage(.user, text(words: 60)), ChatMessage(.assistant, "Yes.")]
                } + messages
        case .tinyLimit: options.maximumNewTokens = [0, 1, -1].randomElement(using: &random) ?? 0
        case .timeout: options.timeout = .milliseconds(Int.random(in: 0...80, using: &random))
        case .picture:
            if Bool.random(using: &random) { role = .vision }
            let picture = TestPictures.all.randomElement(using: &random)?.bytes ?? TestPictures.png
            messages[0].images = [try ChatImage(picture)]
        case .brokenPicture: return try await brokenPicture()
        case .grammar: options.constraint = .gbnf(#"root ::= ("yes" | "no") (", " ("yes" | "no")){3}"#)
        case .wrongGrammar: options.constraint = .gbnf("root ::= (")
        case .penalties: options.sampling.repeatPenalty = 1.2
        case .vectors, .tooLongVectors:
            return try await vectors(words: kind == .vectors ? 20 : 4000)
        case .count: return try await engine.count(messages) > 0 ? "counted" : "nothing counted"
        case .answersForVision: role = .vision
        case .cancelledPictures:
            if Bool.random(using: &random) { role = .vision }
            // The colours differ from all earlier ones, so that the pictures are encoded.
            messages[0].images = try (0..<4).map { _ in
                try ChatImage(
                    TestPictures.png(
                        width: 20, height: 20, red: UInt8.random(in: 0...255, using: &random),
                        blue: UInt8.random(in: 0...255, using: &random)))
            }
            return try await cancelled([messages], role)
        case .tools: useTools(&messages, &options)
        case .thinking: think(&options, tokens: Int.random(in: 0...6, using: &random))
        case .answerNow:
            think(&options, tokens: nil)
            press = Int.random(in: 1...8, using: &random)
        case .schema:
            let schema = JSONSchema.object([.init("color", .oneOf([#""red""#, #""blue""#]))]).json
            // Words that occur in every answer, and in hardly any.
            options.constraint = .jsonSchema(
                schema, after: Bool.random(using: &random) ? [" ", "e", "a"] : ["```json"])
            options.maximumNewTokens = 24
        case .prepared: break
        case .reloaded:
            await engine.unload(.vision)
            try await Self.loadForVision(engine)
            return "reloaded"
        }
        return try await ending(
            engine.generate(messages, options: options, role: role, isPreparation: kind == .prepared), of: role,
            pressing: press.flatMap { count in options.thinking.control.map { ($0, count) } })
    }

    private mutating func text(words: Int) -> String {
        let word = ["red", "fox", "lake", "storm", "king", "été", "日本", "🎉"].randomElement(using: &random) ?? "red"
        return "Say " + (0..<words).map { "\(word) \($0 % 7)" }.joined(separator: " ")
    }

    /// A question that the model usually answers with a call, because the history contains one.
    private mutating func useTools(_ messages: inout [ChatMessage], _ options: inout GenerationOptions) {
        let call = ToolCall(id: "call00000", name: Self.weather.name, arguments: #"{"city": "Rome"}"#)
        messages = [
            ChatMessage(.user, "What is the weather in Rome?"), ChatMessage(.assistant, "", toolCalls: [call]),
            ChatMessage(result: "sun in Rome", of: call), ChatMessage(.assistant, "There is sun in Rome."),
            ChatMessage(.user, "What is the weather in Paris?"),
        ]
        options.tools = [Self.weather]
        options.maximumNewTokens = Int.random(in: 1...40, using: &random)
    }

    private func think(_ options: inout GenerationOptions, tokens: Int?) {
        options.maximumNewTokens = 24
        options.thinking = ThinkingOptions(
            maximumTokens: tokens, answerTokens: 4, lastWords: "Enough.", control: ThinkingControl())
    }

    /// Reads a stream to its end, which must have a reason.
    /// - Parameter pressing: a button, and the number of events after which it is pressed.
    private func ending(
        _ stream: AsyncThrowingStream<GenerationEvent, any Error>, of role: EngineRole = .text,
        pressing: (control: ThinkingControl, after: Int)? = nil
    ) async throws -> String {
        var reason = "no reason"
        var events = 0
        do {
            for try await event in stream {
                events += 1
                if events == pressing?.after { pressing?.control.answerNow() }
                if case .finish(let summary) = event { reason = summary.reason.rawValue }
            }
        } catch let error as LLMError {
            reason = error.code.rawValue
        } catch is CancellationError where role == .vision {
            // Only the model of that role is ever unloaded.
            reason = "unloaded"
        }
        return reason
    }

    /// Reads some events and releases the stream.
    private mutating func letGo(_ messages: [ChatMessage]) async throws -> String {
        var events = Int.random(in: 1...10, using: &random)
        for try await _ in engine.generate(messages, options: Self.greedy(40)) {
            events -= 1
            if events == 0 { break }
        }
        return "let go"
    }

    private static func greedy(_ maximumNewTokens: Int) -> GenerationOptions {
        GenerationOptions(sampling: .greedy, maximumNewTokens: maximumNewTokens, thinking: .disabled)
    }

    /// Cancels the reading task in any phase of the request.
    private mutating func cancelled(_ messages: [ChatMessage]) async throws -> String {
        let long = messages + [ChatMessage(.assistant, "Yes."), ChatMessage(.user, text(words: 120))]
        return try await cancelled([messages, long], .text)
    }

    /// Cancels a request with one of several conversations.
    private mutating func cancelled(_ all: [[ChatMessage]], _ role: EngineRole) async throws -> String {
        let asked = all.randomElement(using: &random) ?? []
        let task = Task { [self] in
            try await ending(engine.generate(asked, options: Self.greedy(60), role: role), of: role)
        }
        let wait = Int.random(in: 0...400, using: &random)
        await withTaskGroup(of: Void.self) { group in
            // A short time, or the end of the answer if it comes first.
            group.addTask { try? await Task.sleep(for: .milliseconds(wait)) }
            group.addTask { _ = await task.result }
            await group.next()
            task.cancel()
        }
        let reason = try await task.value
        return reason == "no reason" ? "cancelled" : reason
    }

    /// A file with some wrong bytes, or without its end.
    private mutating func brokenPicture() async throws -> String {
        var bytes = TestPictures.all.randomElement(using: &random)?.bytes ?? TestPictures.png
        if Bool.random(using: &random) { bytes.removeLast(Int.random(in: 1...bytes.count / 2, using: &random)) }
        for _ in 0..<Int.random(in: 1...4, using: &random) {
            bytes[Int.random(in: bytes.indices, using: &random)] ^= UInt8.random(in: 1...255, using: &random)
        }
        do {
            let message = ChatMessage(.user, "What is this?", images: [try ChatImage(bytes)])
            let role = Bool.random(using: &random) ? EngineRole.text : .vision
            return try await ending(engine.generate([message], options: Self.greedy(2), role: role), of: role)
        } catch let error as LLMError {
            return error.code.rawValue
        }
    }

    private mutating func vectors(words: Int) async throws -> String {
        do {
            return try await engine.embed([text(words: words)]).count == 1 ? "embedded" : "no vector"
        } catch let error as LLMError {
            return error.code.rawValue
        }
    }
}
#endif
