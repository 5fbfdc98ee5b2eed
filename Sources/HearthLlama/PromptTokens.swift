#if Llama
    import CLlama
    import HearthBase
    import HearthInference

    /// Makes the tokens of a conversation: the template's control tokens, and never a user's.
    ///
    /// A message that spells out a control token, such as `<|im_end|>`, could otherwise end its own turn and speak for
    /// somebody else. Its text is cut into tokens apart from the template's. All other prompts are cut in one go, which
    /// gives exactly the tokens the model was trained on.
    struct PromptTokens {
        let vocabulary: Vocabulary
        let render: ([ChatMessage]) throws -> String

        /// The tokens of the messages, with the beginning of the model's answer.
        func tokens(of messages: [ChatMessage]) throws -> [llama_token] {
            let spelled = try messages.indices.filter { try spellsControlToken(messages[$0].content) }
            guard !spelled.isEmpty else { return try whole(messages) }

            // Private-use characters stand in for the texts while the template runs.
            var marked = messages
            for index in spelled { marked[index].content = Self.mark(index) }
            var rest = try render(marked)[...]
            var tokens: [llama_token] = []
            for index in spelled {
                guard let place = rest.firstRange(of: Self.mark(index)) else {
                    Log.write(.warning, "llama.prompt", "the template hides a message that spells a control token")
                    return try whole(messages)
                }
                tokens += try vocabulary.tokens(
                    of: rest[..<place.lowerBound], addSpecial: tokens.isEmpty, parseSpecial: true)
                tokens += try vocabulary.tokens(
                    of: messages[index].content, addSpecial: false, parseSpecial: false)
                rest = rest[place.upperBound...]
            }
            return try tokens + vocabulary.tokens(of: rest, addSpecial: false, parseSpecial: true)
        }

        private func whole(_ messages: [ChatMessage]) throws -> [llama_token] {
            try vocabulary.tokens(of: render(messages), addSpecial: true, parseSpecial: true)
        }

        private func spellsControlToken(_ text: String) throws -> Bool {
            try vocabulary.tokens(of: text, addSpecial: false, parseSpecial: true)
                .contains(where: vocabulary.isControl)
        }

        private static func mark(_ index: Int) -> String { "\u{E0F0}\(index)\u{E0F1}" }
    }
#endif
