#if Llama
    import CLlama
    import HearthBase
    import HearthInference

    /// Makes the tokens of a conversation: the template's control tokens, and never a user's.
    ///
    /// A message that spells out a control token, such as `<|im_end|>`, could otherwise end its own turn and speak for
    /// somebody else. Its text is cut into tokens apart from the template's. All other prompts are cut in one go, which
    /// gives exactly the tokens the model was trained on. Pictures stand before their message's text; no text can stand for one.
    struct PromptTokens {
        let vocabulary: Vocabulary
        /// What makes pictures readable; without it they are left out.
        var projector: Projector?
        let render: ([ChatMessage]) throws -> String

        /// The prompt of the messages, with the beginning of the model's answer.
        func parts(of messages: [ChatMessage]) throws -> [PromptPart] {
            let insertions = try self.insertions(in: messages)
            guard !insertions.isEmpty else { return [.tokens(try whole(messages))] }

            // Private-use characters that no message has stand in for them while the template runs.
            let marker = Marker(unlike: messages)
            var marked = messages
            for index in messages.indices {
                let own = insertions.indices.filter { insertions[$0].message == index }
                guard !own.isEmpty else { continue }
                let hidesText = own.contains { if case .text = insertions[$0].kind { true } else { false } }
                marked[index].content = own.map(marker.mark).joined() + (hidesText ? "" : messages[index].content)
            }
            let rendered = try render(marked)
            var rest = rendered[...]
            var parts: [PromptPart] = []
            for (number, insertion) in insertions.enumerated() {
                guard let place = rest.firstRange(of: marker.mark(number)) else {
                    // Templates may leave out what an answer says before it calls a tool.
                    if case .text = insertion.kind, !rendered.contains(marker.mark(number)) { continue }
                    guard insertions.contains(where: { if case .picture = $0.kind { true } else { false } }) else {
                        Log.write(.warning, "llama.prompt", "the template moves a message that spells a control token")
                        return [.tokens(try whole(messages))]
                    }
                    throw LLMError(
                        .templateFailed, "the model's chat template leaves out a message with a picture",
                        context: ErrorContext(remedy: "Show the picture in a message of the user."), disposition: .usage
                    )
                }
                try append(rest[..<place.lowerBound], to: &parts)
                switch insertion.kind {
                case .text(let text):
                    parts.append(
                        .tokens(try vocabulary.tokens(of: text, addSpecial: false, parseSpecial: false)))
                case .picture(let image, let projector): parts += try projector.promptParts(of: image)
                }
                rest = rest[place.upperBound...]
            }
            try append(rest, to: &parts)
            return parts
        }

        /// The template's own text.
        private func append(_ text: Substring, to parts: inout [PromptPart]) throws {
            let tokens = try vocabulary.tokens(of: text, addSpecial: parts.isEmpty, parseSpecial: true)
            parts.append(.tokens(tokens))
        }

        /// What the template does not get to see.
        private struct Insertion {
            enum Kind {
                case text(String)
                case picture(ChatImage, Projector)
            }

            let message: Int
            let kind: Kind
        }

        private func insertions(in messages: [ChatMessage]) throws -> [Insertion] {
            var insertions: [Insertion] = []
            for (index, message) in messages.enumerated() {
                if let projector {
                    insertions += message.images.map { Insertion(message: index, kind: .picture($0, projector)) }
                }
                if try spellsControlToken(message.content) {
                    insertions.append(Insertion(message: index, kind: .text(message.content)))
                }
            }
            return insertions
        }

        /// Marks that stand for insertions.
        private struct Marker {
            private let key: Int

            init(unlike messages: [ChatMessage]) {
                var key = 0
                while messages.contains(where: { $0.content.contains("\u{E0F0}\(key)\u{E0F1}") }) { key += 1 }
                self.key = key
            }

            func mark(_ number: Int) -> String { "\u{E0F0}\(key)\u{E0F1}\(number)\u{E0F2}" }
        }

        private func whole(_ messages: [ChatMessage]) throws -> [llama_token] {
            try vocabulary.tokens(of: render(messages), addSpecial: true, parseSpecial: true)
        }

        private func spellsControlToken(_ text: String) throws -> Bool {
            try vocabulary.tokens(of: text, addSpecial: false, parseSpecial: true)
                .contains(where: vocabulary.isControl)
        }
    }
#endif
