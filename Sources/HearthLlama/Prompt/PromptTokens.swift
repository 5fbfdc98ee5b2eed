#if Llama
import Foundation
import HearthBase
import HearthInference

/// Makes the tokens of a conversation. Control tokens come only from the template, never from a user's text.
///
/// A message that spells out a control token, such as `<|im_end|>`, could otherwise end its own turn and speak for
/// another role. Its text is tokenised apart from the template's, wherever and however often the template inserts
/// it. If a template writes a text in another notation, the control tokens in the text get a space. A prompt
/// without such text is tokenised as a whole, which gives exactly the tokens of the model's training. Pictures come
/// before their message's text; no text can stand for a picture.
struct PromptTokens {
    let vocabulary: Vocabulary
    /// The projector that encodes pictures; without one, pictures are left out.
    var projector: Projector?
    let render: ([ChatMessage]) throws -> String

    /// The prompt of the messages, with the beginning of the model's answer.
    func parts(of messages: [ChatMessage]) throws -> [PromptPart] {
        let insertions = try self.insertions(in: messages)
        guard !insertions.isEmpty else {
            return [.tokens(try vocabulary.tokens(of: render(messages), addSpecial: true, parseSpecial: true))]
        }

        // Private-use characters that occur in no message mark the insertions while the template runs.
        let marker = Marker(unlike: messages)
        var plain = messages
        var rendered = try render(marked(plain, insertions.indices, insertions, marker))
        // Some templates leave a text out, or write it in another notation such as JSON. They receive the text
        // itself, with a space in each spelled-out control token.
        let shown = marker.numbers(in: rendered, below: insertions.count)
        let lost = insertions.indices.filter { insertions[$0].isText && !shown.contains($0) }
        if !lost.isEmpty {
            for number in lost {
                let index = insertions[number].message
                let text = try vocabulary.withoutControlTokens(plain[index].content)
                let isSafe = try !spellsControlToken(text)
                if !isSafe {
                    Log.write(
                        .warning, "template",
                        "left out the text of a message: its control tokens cannot be told from the template's")
                }
                plain[index].content = isSafe ? text : ""
            }
            let kept = insertions.indices.filter { !lost.contains($0) }
            rendered = try render(marked(plain, kept, insertions, marker))
        }
        return try parts(of: rendered, insertions, marker)
    }

    /// The messages with marks in place of some insertions.
    private func marked(
        _ messages: [ChatMessage], _ numbers: some Sequence<Int>, _ insertions: [Insertion], _ marker: Marker
    ) -> [ChatMessage] {
        var marked = messages
        for number in numbers.reversed() {
            let insertion = insertions[number]
            let text = insertion.isText ? "" : marked[insertion.message].content
            marked[insertion.message].content = marker.mark(number) + text
        }
        return marked
    }

    /// The parts of a rendered text, with the insertions at their marks.
    private func parts(of rendered: String, _ insertions: [Insertion], _ marker: Marker) throws -> [PromptPart] {
        var rest = rendered[...]
        var parts: [PromptPart] = []
        var shown = Set<Int>()
        while let (number, place) = marker.first(in: rest, below: insertions.count) {
            shown.insert(number)
            try append(rest[..<place.lowerBound], to: &parts)
            switch insertions[number].kind {
            case .text(let text):
                parts.append(
                    .tokens(try vocabulary.tokens(of: text, addSpecial: false, parseSpecial: false)))
            case .picture(let image, let projector): parts += try projector.promptParts(of: image)
            }
            rest = rest[place.upperBound...]
        }
        guard insertions.indices.allSatisfy({ insertions[$0].isText || shown.contains($0) }) else {
            throw LLMError(
                .templateFailed, "the model's chat template leaves out a message with a picture",
                context: ErrorContext(remedy: "Show the picture in a message of the user."), disposition: .usage)
        }
        try append(rest, to: &parts)
        return parts
    }

    /// The template's own text.
    private func append(_ text: Substring, to parts: inout [PromptPart]) throws {
        let tokens = try vocabulary.tokens(of: text, addSpecial: parts.isEmpty, parseSpecial: true)
        parts.append(.tokens(tokens))
    }

    /// A text or picture that the template receives as a mark.
    private struct Insertion {
        enum Kind {
            case text(String)
            case picture(ChatImage, Projector)
        }

        let message: Int
        let kind: Kind

        var isText: Bool { if case .text = kind { true } else { false } }
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

    /// Marks that stand for insertions. The search for them is literal, because the next character may combine with
    /// a mark.
    private struct Marker {
        private let beginning: String
        private static let end = "\u{E0F2}"

        init(unlike messages: [ChatMessage]) {
            // At random, so that no text can contain many keys and make the search long.
            func beginning() -> String { "\u{E0F0}\(UInt64.random(in: 0...(.max)))\u{E0F1}" }
            var chosen = beginning()
            while messages.contains(where: { $0.content.range(of: chosen, options: .literal) != nil }) {
                chosen = beginning()
            }
            self.beginning = chosen
        }

        func mark(_ number: Int) -> String { "\(beginning)\(number)\(Self.end)" }

        /// The numbers of the marks in a text.
        func numbers(in text: String, below count: Int) -> Set<Int> {
            var rest = text[...]
            var found = Set<Int>()
            while let (number, place) = first(in: rest, below: count) {
                found.insert(number)
                rest = rest[place.upperBound...]
            }
            return found
        }

        /// The first mark in a text, and its place.
        func first(in text: Substring, below count: Int) -> (number: Int, place: Range<String.Index>)? {
            var rest = text
            while let place = rest.range(of: beginning, options: .literal) {
                rest = rest[place.upperBound...]
                guard let end = rest.range(of: Self.end, options: .literal) else { return nil }
                if let number = Int(rest[..<end.lowerBound]), (0..<count).contains(number) {
                    return (number, place.lowerBound..<end.upperBound)
                }
            }
            return nil
        }
    }

    private func spellsControlToken(_ text: String) throws -> Bool {
        try vocabulary.tokens(of: text, addSpecial: false, parseSpecial: true)
            .contains(where: vocabulary.isControl)
    }
}

extension ModelWeights {
    /// The number of cells that a conversation needs.
    func count(_ messages: [ChatMessage], projector: Projector?) throws -> Int {
        try PromptTokens(vocabulary: vocabulary, projector: projector) { try self.render($0).text }
            .parts(of: messages).reduce(0) { $0 + $1.cells }
    }

    /// The prompt of a generation, without computing it. No message is left out.
    func rendered(
        _ messages: [ChatMessage], _ options: GenerationOptions, projector: Projector?
    ) throws -> (text: String, tokenCount: Int) {
        guard options.usesChatTemplate else {
            let tokens =
                try options.promptTokens
                ?? vocabulary.tokens(
                    of: messages.map(\.content).joined(), addSpecial: true, parseSpecial: true)
            let bytes = try vocabulary.pieces(of: tokens).flatMap { $0 }
            return (String(decoding: bytes, as: UTF8.self), tokens.count)
        }
        let conversation = Conversation(messages, options)
        var text = ""
        let parts = try PromptTokens(vocabulary: vocabulary, projector: projector) {
            text = try self.render(
                $0, tools: conversation.tools, enableThinking: options.thinking.isEnabled
            ).text
            return text
        }.parts(of: conversation.messages)
        let begun = try vocabulary.tokens(of: conversation.begun, addSpecial: false, parseSpecial: false)
        return (text + conversation.begun, parts.reduce(begun.count) { $0 + $1.cells })
    }
}
#endif
