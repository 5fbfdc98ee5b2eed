import HearthBase

/// The kinds of tokens, with their numbers in a GGUF file.
enum TokenKind: Int32, Sendable {
    case normal = 1
    case unknown, control, userDefined, unused, byte
}

/// The tokens of a vocabulary in the order of their numbers, each text once: llama.cpp ends the process at a text that
/// two tokens share.
struct TokenList: Sendable {
    /// The file's name in messages.
    let file: String
    /// One more than the highest number of a token.
    let limit: Int
    private var texts: [TokenText?] = []
    private(set) var kinds: [TokenKind] = []
    private var ids: [TokenText: Int] = [:]

    /// An empty list.
    /// - Parameter limit: the rows of the model's embedding; `nil` if the tokens decide.
    /// - Throws: `damaged` for a limit out of range.
    init(file: String, limit: Int?) throws(ImportError) {
        self.file = file
        self.limit = limit ?? TokenizerLimits.tokens
        guard (1...TokenizerLimits.tokens).contains(self.limit) else {
            throw .damaged(
                "its number of tokens is out of range", file: "config.json", field: "vocab_size",
                expected: "1...\(TokenizerLimits.tokens)", found: "\(self.limit)")
        }
    }

    /// The number of tokens so far, with those that are missing between them.
    var count: Int { texts.count }

    /// The number of a token.
    func id(of text: TokenText) -> Int? { ids[text] }

    /// The text of a token.
    func text(of id: Int) -> TokenText? { texts.indices.contains(id) ? texts[id] : nil }

    /// Adds a token, or gives a known one another kind.
    /// - Throws: `damaged` for a number out of range, for a second text of a number, and for a second number of a text.
    mutating func add(_ text: TokenText, id: Int, kind: TokenKind) throws(ImportError) {
        guard id >= 0, id < limit else {
            throw .damaged(
                "the token \(text.text.quoted) has a number out of range", file: file, expected: "0..<\(limit)",
                found: "\(id)")
        }
        guard (1...TokenizerLimits.tokenBytes).contains(text.byteCount), !text.text.utf8.contains(0) else {
            throw .damaged(
                "token \(id) is not a text of 1 to \(TokenizerLimits.tokenBytes) bytes without a zero byte", file: file)
        }
        if let known = ids[text], known != id {
            throw .damaged(
                "the token \(text.text.quoted) has two numbers", file: file, expected: "\(known)", found: "\(id)")
        }
        if id >= texts.count {
            texts += repeatElement(nil, count: id + 1 - texts.count)
            kinds += repeatElement(.unused, count: id + 1 - kinds.count)
        }
        if let known = texts[id], known != text {
            throw .damaged(
                "two tokens have the number \(id)", file: file, expected: known.text.quoted, found: text.text.quoted)
        }
        texts[id] = text
        kinds[id] = kind
        ids[text] = id
    }

    /// Puts unused tokens into all holes, and at the end until there are `count` tokens.
    mutating func fill(to count: Int) {
        let more = max(0, count - texts.count)
        texts += repeatElement(nil, count: more)
        kinds += repeatElement(.unused, count: more)
        for id in texts.indices where texts[id] == nil {
            var text = TokenText("[PAD\(id)]")
            while ids[text] != nil { text = TokenText(text.text + "_") }
            texts[id] = text
            ids[text] = id
        }
    }

    /// The texts in the order of their numbers, empty in holes.
    var allTexts: [String] { texts.map { $0?.text ?? "" } }

    /// A note about added tokens beyond the rows of the model.
    static func note(leftOut tokens: [TokenText]) -> [String] {
        guard let first = tokens.first else { return [] }
        return ["the model has no rows for \(tokens.count) tokens such as \(first.text.quoted), which are left out"]
    }

    /// The numbers of tokens for single bytes, such as `<0x0A>`: 256 if each byte has one.
    var byteTokenCount: Int { kinds.count { $0 == .byte } }

    /// Whether a text is the name of a token for one byte.
    static func isByte(_ text: TokenText) -> Bool {
        let bytes = Array(text.text.utf8)
        guard bytes.count == 6, bytes.starts(with: "<0x".utf8), bytes[5] == UInt8(ascii: ">") else { return false }
        return bytes[3...4].allSatisfy { (48...57).contains($0) || (65...70).contains($0) }
    }
}
