#if Llama
    import CLlama
    import HearthBase
    import HearthInference

    /// Something in a prompt that is no text, computed as a whole into the next positions of a sequence.
    protocol PromptPicture: AnyObject {
        /// What stands for it in a ledger, one for each position it takes, at least one: numbers below 0, which no token has, and
        /// the same ones for the same picture only.
        var ledger: [llama_token] { get }

        /// The cells of the context it takes: more than positions where those have sections for height and width.
        var cells: Int { get }

        /// Whether the last computation had to encode it first.
        var wasEncoded: Bool { get }

        /// Computes it. The context has so many positions of the sequence, and as many more afterwards as the ledger is long.
        /// - Returns: what `llama_decode` returns.
        /// - Throws: when there is nothing to compute; the context is as it was.
        func compute(in context: OpaquePointer, at position: Int, of sequence: Int) throws -> Int32
    }

    extension PromptPicture {
        var cells: Int { ledger.count }
        var wasEncoded: Bool { false }
    }

    /// A piece of a prompt.
    enum PromptPart {
        case tokens([llama_token])
        case picture(any PromptPicture)

        /// The cells of the context it takes.
        var cells: Int {
            switch self {
            case .tokens(let tokens): tokens.count
            case .picture(let picture): picture.cells
            }
        }
    }

    /// What an answer is to follow. Its end is text, since the first token of the answer is chosen from that.
    struct Prompt {
        /// All of it as a ledger has it.
        private(set) var ledger: [llama_token]
        /// How much of the ledger comes before the beginning of the answer.
        private(set) var asked: Int
        /// The text its beginning of the answer stands in.
        let text: String
        /// How the answer calls the tools it was offered.
        let calls: CallFormat?
        /// The oldest messages were left out.
        let isTruncated: Bool
        /// The cells of the context that pictures take beyond their positions.
        let extraCells: Int
        /// By the position where each begins, in order.
        private var pictures: [(start: Int, picture: any PromptPicture)]

        /// - Parameters:
        ///   - text: the same as text.
        ///   - opening: the tokens with which the template begins the answer.
        init(
            _ parts: [PromptPart], text: String, opening: [llama_token] = [], calls: CallFormat? = nil,
            isTruncated: Bool = false
        ) {
            var ledger: [llama_token] = []
            var pictures: [(start: Int, picture: any PromptPicture)] = []
            for part in parts {
                switch part {
                case .tokens(let tokens): ledger += tokens
                case .picture(let picture):
                    pictures.append((ledger.count, picture))
                    ledger += picture.ledger
                }
            }
            self.ledger = ledger
            // Where the two were cut into other tokens together, all of it counts as asked.
            asked = ledger.count - (ledger.suffix(opening.count) == opening[...] ? opening.count : 0)
            extraCells = pictures.reduce(0) { $0 + $1.picture.cells - $1.picture.ledger.count }
            self.pictures = pictures
            self.text = text
            self.calls = calls
            self.isTruncated = isTruncated
        }

        /// Its first `count` positions, without a picture that is not whole among them.
        func cut(to count: Int) -> Prompt {
            var front = self
            front.asked = reusable(count)
            front.ledger.removeSubrange(front.asked...)
            front.pictures.removeAll { $0.start >= front.asked }
            return front
        }

        /// What there is to compute at a position.
        enum Step {
            /// Tokens up to the end or to the next picture.
            case tokens(Range<Int>)
            case picture(any PromptPicture)
        }

        /// The step at a position before the end, which is not in the middle of a picture.
        func step(at position: Int) -> Step {
            guard let next = pictures.first(where: { $0.start >= position }) else {
                return .tokens(position..<ledger.count)
            }
            return next.start == position ? .picture(next.picture) : .tokens(position..<next.start)
        }

        /// Whether a picture begins at a position or after it.
        func hasPictures(from position: Int) -> Bool { pictures.last.map { $0.start >= position } ?? false }

        /// How many of the first `count` positions are of use: a picture is computed as a whole.
        func reusable(_ count: Int) -> Int {
            let cut = pictures.first { $0.start < count && count < $0.start + $0.picture.ledger.count }
            return cut?.start ?? count
        }
    }

    extension Prompt {
        /// The prompt of a conversation, without the messages that do not fit.
        init(_ request: GenerationRequest, for model: LoadedModel) throws {
            let options = request.options
            guard options.usesChatTemplate else {
                self = try Self.raw(request.messages, for: model)
                return
            }
            let pictures = request.messages.reduce(0) { $0 + $1.images.count }
            if pictures > 0, model.projector == nil {
                request.yield(.picturesLeftOut(count: pictures))
                Log.write(.warning, "prompt", "no projector is loaded: \(pictures) pictures are left out")
            }
            let fit = ContextFit(
                window: model.information.contextLength,
                // What is prepared leaves out what the question will.
                maximumNewTokens: request.isPreparation
                    ? GenerationOptions().maximumNewTokens : options.maximumNewTokens,
                messageLimit: model.historyLimit)
            // All prompts end alike, whichever messages they keep.
            var rendered: ChatTemplate.Rendered?
            let tools = options.constraint?.coversAnswer == true ? [] : options.tools
            let tokens = PromptTokens(vocabulary: model.vocabulary, projector: model.projector) { messages in
                // A long conversation is rendered several times.
                if request.signal.isCancelled { throw CancellationError() }
                let prompt = try model.weights.render(
                    messages, tools: tools, enableThinking: options.thinking.isEnabled)
                rendered = prompt
                return prompt.text
            }
            let outcome = try fit.apply(
                to: request.messages, fewest: model.weights.fewestTokens(in:), render: tokens.parts,
                count: { $0.reduce(0) { $0 + $1.cells } })
            if outcome.dropped > 0 {
                request.yield(.truncated(dropped: outcome.dropped))
                Log.write(.info, "prompt", "left out the \(outcome.dropped) oldest messages to fit the context")
            }
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
                self = try Self.known(of: fit.kept(of: request.messages, without: outcome.dropped), by: tokens)
                return
            }
            let opening = try model.vocabulary.tokens(
                of: rendered?.opening ?? "", addSpecial: false, parseSpecial: true)
            self.init(
                outcome.prompt, text: rendered?.text ?? "", opening: opening, calls: rendered?.calls,
                isTruncated: outcome.dropped > 0)
        }

        /// The joined texts of the messages as they are, without a chat template.
        private static func raw(_ messages: [ChatMessage], for model: LoadedModel) throws -> Prompt {
            let text = messages.map(\.content).joined()
            let tokens = try model.vocabulary.tokens(of: text, addSpecial: true, parseSpecial: true)
            guard !tokens.isEmpty else {
                throw LLMError(.templateFailed, "the prompt has no text", disposition: .usage)
            }
            let window = model.information.contextLength
            guard tokens.count < window else { throw ContextFit.exceeded(tokens: "\(tokens.count)", window: window) }
            return Prompt([.tokens(tokens)], text: text)
        }

        /// What a conversation's prompt is certain to begin with while its last message may still go on: what two that go on in
        /// different ways have in common. What belongs to one of them only could not be taken back where layers are recurrent.
        private static func known(of messages: [ChatMessage], by tokens: PromptTokens) throws -> Prompt {
            guard let text = messages.last?.content else { return Prompt([], text: "") }
            // The word it ends with may be the front of another.
            let end = text.lastIndex(where: \.isWhitespace).map(text.index(after:)) ?? text.startIndex
            // A letter, and what joins the white space before it.
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
