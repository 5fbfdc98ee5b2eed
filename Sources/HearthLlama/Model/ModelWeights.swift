#if Llama
import CLlama
import CLlamaShim
import HearthBase
import HearthInference

/// The weights, vocabulary and chat template of one file. All its contexts share them, and so do token counts on
/// other threads. They are freed with the last reference.
///
/// Unchecked because it owns C handles: nothing changes them after they are made, llama.cpp documents its tokeniser
/// as safe to call from any thread, and rendering only reads a template.
final class ModelWeights: @unchecked Sendable {
    let model: OpaquePointer
    let mark = LoadMark()
    let vocabulary: Vocabulary
    private let template: ChatTemplate
    /// What the template wants of the order of messages.
    private let rules = TurnRules()
    /// The template's text around thinking and answer.
    let frame: AnswerFrame
    /// Whether the template supports tools in a call format that this package can constrain and read.
    let callsTools: Bool
    /// Whether the template supports thinking.
    let templateThinks: Bool
    private let sortedTokens = Locked<TokenTrie?>(nil)
    private let sortingBegan = Locked(false)

    /// The tokens with text, ordered by their bytes.
    var tokenTrie: TokenTrie {
        sortedTokens.withLock { trie in
            let made = trie ?? TokenTrie(vocabulary.pieces)
            trie = made
            return made
        }
    }

    /// Builds the trie of tokens on another thread for the first answer with a grammar; it takes some tenths of a
    /// second.
    func prepareTokenTrie() {
        let begins = sortingBegan.withLock { began in
            defer { began = true }
            return !began
        }
        guard begins else { return }
        let pieces = vocabulary.pieces
        Task { [sortedTokens] in
            await blocking { sortedTokens.withLock { $0 = $0 ?? TokenTrie(pieces) } }
        }
    }

    /// The fewest tokens of a question and an answer in a prompt.
    private let tokensOfTurn: Int

    /// Reads the file.
    /// - Parameter progress: called with 0...1 on the loading thread; `false` ends loading.
    /// - Throws: `cannot-load-model`, `chat-template-failed`, `CancellationError`.
    convenience init(path: Path, configuration: LlamaConfiguration, progress: @escaping (Float) -> Bool) throws {
        LlamaLibrary.prepare()
        try ModelFile.check(path, as: .model)
        _ = LlamaLog.shared.takeProblems()
        try self.init(try Self.load(path, configuration, progress), path, configuration)
        if configuration.checksWeights { try ModelFile.checkWeights(path, progress) }
    }

    /// Reads a vocabulary and a chat template without weights, whose engine computes tokens elsewhere.
    /// - Parameters:
    ///   - header: the bytes of a GGUF file without tensors.
    ///   - path: the model's place in messages.
    /// - Throws: `cannot-load-model`, `chat-template-failed`.
    convenience init(vocabulary header: [UInt8], of path: Path) throws {
        LlamaLibrary.prepare()
        _ = LlamaLog.shared.takeProblems()
        var reason: UnsafeMutablePointer<CChar>?
        guard let model = hearth_vocabulary_load(header, header.count, &reason) else {
            throw LoadFailure.error(path, LoadFailure.reason(reason, else: "llama.cpp cannot read its vocabulary"))
        }
        try self.init(model, path, LlamaConfiguration())
    }

    private init(_ model: OpaquePointer, _ path: Path, _ configuration: LlamaConfiguration) throws {
        do {
            guard llama_model_has_decoder(model), !llama_model_has_encoder(model), !llama_model_is_diffusion(model)
            else { throw ModelFile.failure(path, "it is not a model that answers with text token by token") }
            template = try ChatTemplate(model: model, source: configuration.chatTemplate)
            let own = llama_model_chat_template(model, nil).map { String(cString: $0) }
            let source = configuration.chatTemplate ?? own ?? ""
            callsTools = template.callsTools()
            self.vocabulary = try Vocabulary(model: model, of: path)
            if let frame = try template.frame(self.vocabulary) {
                self.frame = frame
                templateThinks = true
            } else {
                frame = AnswerFrame(tags: ThinkingTags.named(in: source))
                templateThinks = frame.tags.contains {
                    source.contains($0.opening) || source.contains($0.closing)
                }
            }
            tokensOfTurn = template.tokensOfTurn(self.vocabulary)
            self.model = model
            Handles.take(.weights)
        } catch {
            llama_model_free(model)
            throw error
        }
    }

    // The template reads the model only while it renders, so the order does not matter.
    deinit {
        llama_model_free(model)
        Handles.give(.weights)
    }

    /// The prompt text of a conversation.
    /// - Parameter tools: the tools offered to a model whose template supports tools.
    func render(
        _ messages: [ChatMessage], tools: [ToolDefinition] = [], enableThinking: Bool = true
    ) throws -> ChatTemplate.Rendered {
        guard callsTools || tools.isEmpty else {
            throw ChatTemplate.failure("it knows no tools")
        }
        let plain = try messages.map(withoutControlTokens)
        do {
            return try rules.render(callsTools ? plain : plain.withSpelledTools, hasTools: !tools.isEmpty) {
                try template.render($0, tools: tools, enableThinking: enableThinking)
            }
        } catch let error as LLMError where error.code == .templateFailed && refusesEverything {
            throw ChatTemplate.broken("it refuses every conversation (\(ChatTemplate.reason(of: error)))")
        }
    }

    /// Whether the template refuses even one question.
    private var refusesEverything: Bool {
        // The reason is that of the conversation, which is reported.
        (try? template.render([ChatMessage(.user, "a")])) == nil
    }

    /// Puts a space into the control tokens that calls and thinking spell out. The template or JSON writes these
    /// texts, so unlike message text they cannot be tokenised apart from the template's control tokens. The
    /// template receives, and writes, the arguments without escapes.
    private func withoutControlTokens(_ message: ChatMessage) throws -> ChatMessage {
        guard !message.toolCalls.isEmpty || message.role == .tool || !message.thinking.isEmpty else {
            return message
        }
        var message = message
        message.thinking = try vocabulary.withoutControlTokens(message.thinking)
        for index in message.toolCalls.indices {
            let call = message.toolCalls[index]
            message.toolCalls[index] = ToolCall(
                id: try vocabulary.withoutControlTokens(call.id),
                name: try vocabulary.withoutControlTokens(call.name),
                arguments: try vocabulary.withoutControlTokens(
                    EscapedStrings.mapped(in: call.arguments, vocabulary.withoutControlTokens)),
                spelling: call.spelling)
        }
        message.toolCallID = try message.toolCallID.map(vocabulary.withoutControlTokens)
        message.toolName = try message.toolName.map(vocabulary.withoutControlTokens)
        return message
    }

    /// The fewest tokens that messages can have in a prompt, known without tokenising them; more than `limit` for
    /// any higher number.
    func fewestTokens(in messages: [ChatMessage], limit: Int) -> Int {
        // A template may write several results of tools as one turn, and nothing for a system message.
        // Neighbours of one role may become one turn.
        let turns = messages.indices.filter { $0 == 0 || messages[$0].role != messages[$0 - 1].role }
        let questions = turns.count { messages[$0].role == .user }
        let answers = turns.count { messages[$0].role == .assistant }
        var sum = min(questions, answers) * tokensOfTurn + abs(questions - answers)
        for message in messages where sum <= limit {
            sum += vocabulary.fewestTokens(of: message.content, limit: limit - min(sum, limit))
        }
        return sum
    }

    /// Whether the model can forget the end of a sequence: recurrent layers keep one state for the sequence, not
    /// one for each token.
    var canForgetAPart: Bool { !llama_model_is_recurrent(model) && !llama_model_is_hybrid(model) }

    /// Whether the model gives vectors alone, and has no memory.
    var isEncoderOnly: Bool { metadata("general.architecture").map(GGUFHeader.isEncoder) ?? false }

    var trainedContextLength: Int { Int(llama_model_n_ctx_train(model)) }

    /// The length of the model's vectors.
    var embeddingLength: Int { Int(llama_model_n_embd_out(model)) }

    /// A value of the file's metadata as text; `%` stands for the architecture.
    func metadata(_ key: String) -> String? {
        let name = key.hasPrefix("%") ? text("general.architecture").map { $0 + key.dropFirst() } : key
        return name.flatMap(text)
    }

    private func text(_ key: String) -> String? {
        var buffer = [CChar](repeating: 0, count: 256)
        let length = Int(llama_model_meta_val_str(model, key, &buffer, buffer.count))
        // A value longer than the buffer is no number or name that this package reads.
        guard length >= 0, length < buffer.count else { return nil }
        return String(decoding: buffer.prefix(length).map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    /// Checks that a token can be chosen from logits.
    /// - Throws: `not-finite`.
    func checkLogits(_ logits: UnsafePointer<Float>) throws(LLMError) {
        guard hearth_logits_usable(logits, Int32(vocabulary.count)) else {
            throw LLMError(
                .notFinite, "the model computes no numbers: its weights or its file are damaged",
                context: ErrorContext(
                    model: text("general.name"),
                    remedy: "Verify the model's files; if they are whole, use another model."))
        }
    }

    private static func load(
        _ path: Path, _ configuration: LlamaConfiguration, _ progress: @escaping (Float) -> Bool
    ) throws -> OpaquePointer {
        let observer = ProgressObserver(progress)
        var options = hearth_model_options()
        options.gpu_layers = Int32(clamping: configuration.resolvedGPULayers)
        options.progress = { ProgressObserver.report($0, to: $1) }
        options.user = Unmanaged.passUnretained(observer).toOpaque()
        var reason: UnsafeMutablePointer<CChar>?
        let model = withExtendedLifetime(observer) { hearth_model_load(path.string, &options, &reason) }
        if observer.isStopped {
            if let model { llama_model_free(model) }
            hearth_string_free(reason)
            throw CancellationError()
        }
        guard let model else {
            throw LoadFailure.error(path, LoadFailure.reason(reason, else: "llama.cpp cannot read it"))
        }
        return model
    }
}

/// Identifies one load of a model, for code that must not keep the model in memory.
final class LoadMark: Sendable {}

extension String {
    /// A text that the shim made, which is freed; `nil` for none.
    init?(taking text: UnsafeMutablePointer<CChar>?) {
        guard let text else { return nil }
        self.init(cString: text)
        hearth_string_free(text)
    }
}

/// The reasons of failed loads.
enum LoadFailure {
    /// The shim's reason, otherwise the first error line since the attempt began: that line names the cause, and
    /// later lines only repeat it.
    static func reason(_ reason: UnsafeMutablePointer<CChar>? = nil, else other: String) -> String {
        let lines = LlamaLog.shared.takeProblems()
        return String(taking: reason) ?? lines.first ?? other
    }

    /// The error of a model that llama.cpp does not load. An architecture that it does not know is no damage of the file.
    static func error(_ path: Path, _ reason: String) -> LLMError {
        guard let found = reason.firstMatch(of: /unknown model architecture: '([^']*)'/) else {
            return ModelFile.failure(path, reason)
        }
        let name = String(found.1).quoted
        return ModelFile.failure(
            path, "its architecture \(name) is unknown to the llama.cpp of this version", found: name,
            remedy: "The file may be whole: take a model of another architecture, or a later version of this program.")
    }
}

/// Passes the progress and the cancellation of a load or a quantization through C.
final class ProgressObserver {
    private let body: (Float) -> Bool
    private(set) var isStopped = false

    init(_ body: @escaping (Float) -> Bool) { self.body = body }

    func report(_ value: Float) -> Bool {
        if !body(min(1, max(0, value))) { isStopped = true }
        return !isStopped
    }

    /// Reports to the observer that C holds.
    static func report(_ value: Float, to observer: UnsafeMutableRawPointer?) -> Bool {
        observer.map { Unmanaged<ProgressObserver>.fromOpaque($0).takeUnretainedValue().report(value) } ?? true
    }
}
#endif
