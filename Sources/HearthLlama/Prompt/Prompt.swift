#if Llama
import CLlama
import HearthBase
import HearthInference

/// The tokens and pictures of a prompt. It ends with text, whose last token gives the logits for the answer's first
/// token.
struct Prompt {
    /// The whole prompt as ledger numbers.
    private(set) var ledger: [llama_token]
    /// The number of ledger entries before the beginning of the answer.
    private(set) var asked: Int
    /// The text that contains the prompt's beginning of the answer.
    let text: String
    /// The format in which the answer calls the offered tools.
    let calls: CallFormat?
    /// Whether the oldest messages were left out.
    let isTruncated: Bool
    /// The cells of the context that pictures take beyond their positions.
    let extraCells: Int
    /// Whether computed tokens of earlier prompts are reused.
    var reusesTokens = true
    /// The positions at the beginning that hold the app's instructions alone, whose state may be kept on the disk.
    var ownCount = 0
    /// The changes of the conversation that the template wanted.
    var turnChanges: [TurnChange] = []
    /// Facts to tell the caller when the generation begins.
    var notices: [GenerationEvent] = []
    /// The pictures with the positions where they begin, in order.
    private var pictures: [(start: Int, picture: any PromptPicture)]

    /// Makes a prompt.
    /// - Parameters:
    ///   - text: the text of the same prompt.
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
        // If the tokeniser joined the end of the question and the opening, the whole prompt counts as the question.
        asked = ledger.count - (ledger.suffix(opening.count) == opening[...] ? opening.count : 0)
        extraCells = pictures.reduce(0) { $0 + $1.picture.cells - $1.picture.ledger.count }
        self.pictures = pictures
        self.text = text
        self.calls = calls
        self.isTruncated = isTruncated
    }

    /// The first `count` positions, without a picture that only begins in them.
    func cut(to count: Int) -> Prompt {
        var front = self
        front.asked = reusable(count)
        front.ledger.removeSubrange(front.asked...)
        front.pictures.removeAll { $0.start >= front.asked }
        return front
    }

    /// The computation at a position.
    enum Step {
        /// Tokens up to the end or to the next picture.
        case tokens(Range<Int>)
        case picture(any PromptPicture)
    }

    /// The step at a position before the end, outside a picture.
    /// - Parameter stop: a position after which another step begins; `nil` for none.
    func step(at position: Int, until stop: Int? = nil) -> Step {
        let next = pictures.first { $0.start >= position }
        if let next, next.start == position { return .picture(next.picture) }
        var end = next?.start ?? ledger.count
        if let stop, stop > position { end = min(end, stop) }
        return .tokens(position..<end)
    }

    /// Whether a picture begins at or after a position.
    func hasPictures(from position: Int) -> Bool { pictures.last.map { $0.start >= position } ?? false }

    /// The number of usable positions among the first `count`: a picture is reused only as a whole.
    func reusable(_ count: Int) -> Int {
        let cut = pictures.first { $0.start < count && count < $0.start + $0.picture.ledger.count }
        return cut?.start ?? count
    }
}
#endif
