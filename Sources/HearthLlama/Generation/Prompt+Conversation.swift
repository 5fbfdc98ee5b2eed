#if Llama
import Foundation
import HearthBase
import HearthInference

extension Prompt {
    /// Makes the prompt of a conversation and leaves out old messages that do not fit.
    init(_ request: GenerationRequest, for model: PromptMaker) throws {
        let options = request.options
        guard options.usesChatTemplate else {
            self = try Self.raw(request, for: model)
            return
        }
        var notices: [GenerationEvent] = []
        let pictures = request.messages.reduce(0) { $0 + $1.images.count }
        if pictures > 0, model.projector == nil {
            notices.append(.picturesLeftOut(count: pictures))
            Log.write(.warning, "prompt", "no projector is loaded: \(pictures) pictures are left out")
        }
        let fit = ContextFit(
            window: model.window,
            // A preparation leaves out the same messages as the question after it.
            maximumNewTokens: request.isPreparation
                ? GenerationOptions().maximumNewTokens : options.maximumNewTokens,
            messageLimit: model.historyLimit)
        // All prompts end with the same text, so one rendering serves all of them.
        var rendered: ChatTemplate.Rendered?
        let conversation = Conversation(request.messages, options)
        let tools = conversation.tools
        let tokens = PromptTokens(vocabulary: model.vocabulary, projector: model.projector) { messages in
            // A long conversation is rendered several times.
            if request.signal.isCancelled { throw CancellationError() }
            let prompt = try model.weights.render(
                messages, tools: tools, enableThinking: options.thinking.isEnabled)
            rendered = prompt
            return prompt.text
        }
        let begun = try model.vocabulary.tokens(of: conversation.begun, addSpecial: false, parseSpecial: false)
        let outcome = try fit.apply(
            to: conversation.messages, keepsAll: options.keepsAllMessages,
            fewest: { messages in
                // Text beyond the limit is never cut into tokens.
                (try? TextLimit(window: model.window).check(messages)) == nil
                    ? model.window + 1 : model.weights.fewestTokens(in: messages, limit: model.window)
            }, render: tokens.parts,
            count: { $0.reduce(begun.count) { $0 + $1.cells } })
        if outcome.dropped > 0 {
            notices.append(.truncated(dropped: outcome.dropped))
            Log.write(.info, "prompt", "left out the \(outcome.dropped) oldest messages to fit the context")
        }
        let parts = outcome.prompt + (begun.isEmpty ? [] : [.tokens(begun)])
        guard outcome.prompt.contains(where: { $0.cells > 0 }) else {
            throw LLMError(.templateFailed, "the conversation gives an empty prompt", disposition: .usage)
        }
        for case .picture(let picture) in outcome.prompt where picture.cells > model.largestPicture {
            throw LLMError(
                .pictureTooLarge, "the picture is too large: it has \(picture.cells) tokens",
                context: ErrorContext(
                    expected: "at most \(model.largestPicture) tokens, computed in one go",
                    found: "\(picture.cells) tokens", remedy: "Load the model with a larger batch size."),
                disposition: .usage)
        }
        if request.isPreparation {
            self = try Self.known(of: fit.kept(of: conversation.messages, without: outcome.dropped), by: tokens)
        } else {
            let opening = try model.vocabulary.tokens(
                of: rendered?.opening ?? "", addSpecial: false, parseSpecial: true)
            self.init(
                parts, text: (rendered?.text ?? "") + conversation.begun, opening: opening, calls: rendered?.calls,
                isTruncated: outcome.dropped > 0)
        }
        self.notices = notices
        turnChanges = rendered?.changes ?? []
        if !turnChanges.isEmpty {
            Log.write(
                .info, "template",
                "changed the messages as the template wants: \(turnChanges.map(\.rawValue).joined(separator: ", "))")
        }
        if model.keepsInstructions { ownCount = try Self.countOwn(of: request, in: ledger, by: tokens) }
    }

    /// The tokens at the beginning of a prompt that it has in common with all prompts of the app's instructions alone.
    /// So none of them depends on what a person wrote.
    private static func countOwn(
        of request: GenerationRequest, in ledger: [TokenID], by tokens: PromptTokens
    ) throws -> Int {
        let length = request.options.ownInstructions
        guard length > 0, let system = request.messages.first, system.role == .system,
            let own = String(bytes: system.content.utf8.prefix(length), encoding: .utf8)
        else { return 0 }
        let alone = try known(of: [ChatMessage(.system, own), ChatMessage(.user, "")], by: tokens)
        return PrefixPlan.commonLength(alone.ledger, ledger)
    }

    /// Takes the given tokens, or joins the texts of the messages, without a chat template.
    private static func raw(_ request: GenerationRequest, for model: PromptMaker) throws -> Prompt {
        let given = request.options.promptTokens
        let text =
            try given.map { String(decoding: try model.vocabulary.pieces(of: $0).joined(), as: UTF8.self) }
            ?? request.messages.map(\.content).joined()
        let window = model.window
        let fewest = given == nil ? model.vocabulary.fewestTokens(of: text, limit: window) : 0
        guard fewest < window else { throw ContextFit.exceeded(tokens: "at least \(fewest)", window: window) }
        let tokens = try given ?? model.vocabulary.tokens(of: text, addSpecial: true, parseSpecial: true)
        guard !tokens.isEmpty else {
            throw LLMError(.templateFailed, "the prompt has no text", disposition: .usage)
        }
        guard tokens.count < window else { throw ContextFit.exceeded(tokens: "\(tokens.count)", window: window) }
        return Prompt([.tokens(tokens)], text: text)
    }

    /// The certain beginning of a conversation's prompt while its last message may still grow: the common prefix of
    /// two different continuations. Recurrent layers could not take back a token that belongs to only one of them.
    private static func known(of messages: [ChatMessage], by tokens: PromptTokens) throws -> Prompt {
        guard let text = messages.last?.content else { return Prompt([], text: "") }
        // The last word may be the beginning of a longer word.
        let end = text.lastIndex(where: \.isWhitespace).map(text.index(after:)) ?? text.startIndex
        // A letter, and text that joins the white space before it.
        let prompts = try ["a", "\n1"].map { going in
            var messages = messages
            messages[messages.count - 1].content = text[..<end] + going
            return Prompt(try tokens.parts(of: messages), text: "")
        }
        let common = PrefixPlan.commonLength(prompts[0].ledger, prompts[1].ledger)
        return prompts[0].cut(to: common)
    }
}
#endif
