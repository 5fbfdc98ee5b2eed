import HearthRouting

/// The texts of a question's documents, cut to the room in a context window.
struct FittedDocuments: Sendable, Hashable {
    /// A document of which only a beginning fits.
    struct Cut: Sendable, Hashable {
        let name: String
        /// The characters that fit, and all.
        let kept: Int
        let all: Int
    }

    /// The texts with their marks, in the order of the documents.
    private(set) var texts: [String] = []
    private(set) var cuts: [Cut] = []

    /// No documents.
    init() {}

    /// - Parameter room: the tokens for all documents.
    init(_ documents: [Document], room: Int, meter: TokenMeter) async {
        var tokens: [Int] = []
        for document in documents { tokens.append(await meter.tokens(in: document.marked(document.text))) }
        let shares = Self.shares(tokens, room: room)
        for (index, document) in documents.enumerated() {
            guard shares[index] < tokens[index] else {
                texts.append(document.marked(document.text))
                continue
            }
            let part = await Self.beginning(of: document, tokens: tokens[index], within: shares[index], meter)
            if !part.isEmpty { texts.append(document.marked(part)) }
            cuts.append(Cut(name: document.name, kept: part.count, all: document.characters))
        }
    }

    /// Divides the room: small documents stay whole, the others get equal shares of the rest.
    static func shares(_ tokens: [Int], room: Int) -> [Int] {
        var (shares, left) = (tokens, max(0, room))
        let order = tokens.indices.sorted { (tokens[$0], $0) < (tokens[$1], $1) }
        for (place, index) in order.enumerated() {
            shares[index] = min(tokens[index], left / (order.count - place))
            left -= shares[index]
        }
        return shares
    }

    /// The beginning of a text, whole lines where they are short.
    private static func beginning(
        of document: Document, tokens: Int, within limit: Int, _ meter: TokenMeter
    ) async -> String {
        var count = Int(Double(document.characters) * Double(limit) / Double(max(1, tokens)))
        for _ in 0..<12 where count > 0 {
            var part = document.text.prefix(count)
            if let line = part.lastIndex(where: \.isNewline), part.distance(from: line, to: part.endIndex) < 400 {
                part = part[..<line]
            }
            if await meter.tokens(in: document.marked(String(part))) <= limit { return String(part) }
            count = count * 9 / 10 - 8
        }
        return ""
    }
}

extension Document {
    /// A text of the document as it stands in a prompt: text from outside.
    func marked(_ text: String) -> String { PromptMarks.marked(text, as: "file", source: source) }
}
