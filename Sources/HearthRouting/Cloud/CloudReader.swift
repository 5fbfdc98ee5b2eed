import Foundation
import HearthBase
import HearthHTTP
import HearthInference

/// Reads the bytes of a cloud answer in chunks of any size, without a network: bytes in, events out.
struct CloudReader: Sendable {
    /// The form of the body, which its first byte tells.
    private enum Form: Sendable {
        case unknown
        case events(ServerSentEventParser)
        case list(JSONArrayStream)
        /// One document: an error, or a whole answer.
        case document([UInt8])
    }

    /// The most bytes of one piece of an answer.
    static let limit = 4 << 20
    /// The most bytes of text, thinking and arguments of an answer, and the most calls.
    static let answerLimit = 32 << 20
    static let callLimit = 1024

    private let dialect: any CloudDialect
    private let failure: CloudFailure
    private var form = Form.unknown
    private var text: AnswerReader
    private(set) var answer = CloudAnswer()
    /// The bytes of text and thinking so far.
    private var textBytes = 0
    /// Text, thinking or a call has arrived.
    private(set) var hasBegun = false

    init(_ settings: CloudSettings, request: CloudRequest) {
        dialect = settings.dialect
        failure = CloudFailure(settings: settings)
        // Servers of open models may leave the marks of thinking in the text.
        let hasTags = settings.kind == .openai && request.options.usesChatTemplate
        let tags = hasTags ? ThinkingTags.default : []
        text = AnswerReader(stopStrings: request.options.stopStrings, frame: AnswerFrame(tags: tags))
        answer.isCall = request.schema != nil
    }

    /// Whether the answer is complete, so that further bytes say nothing.
    var hasEnded: Bool { answer.hasEnded }

    /// Reads more bytes and returns the events that they complete.
    /// - Throws: ``LLMError``; then the reader is unusable.
    mutating func append(_ bytes: [UInt8]) throws -> [GenerationEvent] {
        if case .unknown = form {
            // White space before the first byte says nothing in any form.
            guard let first = bytes.first(where: { $0 != 0x20 && !(0x09...0x0D).contains($0) }) else { return [] }
            switch first {
            case UInt8(ascii: "{"): form = .document([])
            case UInt8(ascii: "["): form = .list(JSONArrayStream(limit: Self.limit))
            case UInt8(ascii: "<"): throw failure.webPage
            default: form = .events(ServerSentEventParser(dialect.mode, limit: Self.limit))
            }
        }
        do {
            switch form {
            case .unknown: return []
            case .events(var parser):
                // Emptied, so that the parser's buffers are not copied.
                form = .unknown
                let events = try parser.append(bytes)
                form = .events(parser)
                return try events.flatMap { try read($0) }
            case .list(var list):
                form = .unknown
                let elements = try list.append(bytes)
                form = .list(list)
                let events = try elements.flatMap { try read($0) }
                if list.hasEnded, answer.reason != nil { answer.hasEnded = true }
                return events
            case .document(var document):
                form = .unknown
                document += bytes
                form = .document(document)
                guard document.count <= Self.limit else { throw failure.unusable("a page instead of an answer") }
                return []
            }
        } catch let error as HTTPError {
            throw failure.transport(error, hasBegun: hasBegun)
        }
    }

    /// Ends the body, and returns the events of its last piece. ``finish()`` follows.
    mutating func flush() throws -> [GenerationEvent] {
        do {
            switch form {
            case .events(var parser): return try parser.finish().flatMap { try read($0) }
            case .document(let document): return try read(Data(document))
            case .unknown, .list: return []
            }
        } catch let error as LLMError where error.code == .unusableAnswer && hasBegun {
            throw failure.interrupted("ended in the middle", underlying: error)
        }
    }

    /// Ends the answer, and returns the text that was held back.
    /// - Throws: `answer-interrupted` if the model did not end the answer, `unusable-answer` if there is none.
    mutating func finish() throws -> [GenerationEvent] {
        if answer.reason == nil {
            guard hasBegun else { throw failure.unusable("no answer") }
            // Some servers end the stream properly without a reason.
            guard answer.hasEnded else { throw failure.interrupted("ended in the middle") }
            answer.reason = answer.calls.isEmpty ? .endOfGeneration : .toolCalls
        }
        return rest()
    }

    /// The text that was held back.
    mutating func rest() -> [GenerationEvent] {
        var events: [GenerationEvent] = []
        if text.matchedStop == nil { text.finish { events.append($0) } }
        return events
    }

    private mutating func read(_ event: ServerSentEvent) throws -> [GenerationEvent] {
        if answer.hasEnded || event.data.isEmpty { return [] }
        if dialect.isEnd(event) {
            answer.hasEnded = true
            return []
        }
        return try read(Data(event.data.utf8))
    }

    private mutating func read(_ data: Data) throws -> [GenerationEvent] {
        if answer.hasEnded { return [] }
        let piece: JSONValue
        do {
            piece = try JSONValue(parsing: data)
        } catch {
            throw failure.unusable("a piece of an answer that is not JSON", underlying: error)
        }
        if let error = piece["error"], error != .null { throw failure.piece(piece) }
        try dialect.read(piece, into: &answer)
        defer { answer.events.removeAll(keepingCapacity: true) }
        if !answer.events.isEmpty || !answer.calls.isEmpty { hasBegun = true }
        let bytes = answer.bytes
        textBytes += bytes.events
        guard textBytes + bytes.calls <= Self.answerLimit, answer.calls.count <= Self.callLimit else {
            throw failure.unusable("an answer that is too large")
        }
        return answer.events.flatMap { split($0) }
    }

    /// Separates marked thinking from text, and ends the answer before a stop string.
    private mutating func split(_ event: GenerationEvent) -> [GenerationEvent] {
        guard case .text(let piece) = event else { return [event] }
        if text.matchedStop != nil { return [] }
        var events: [GenerationEvent] = []
        Array(piece.utf8).withUnsafeBytes { bytes in text.append(bytes) { events.append($0) } }
        if text.matchedStop != nil { (answer.reason, answer.hasEnded) = (.stopString, true) }
        return events
    }
}
