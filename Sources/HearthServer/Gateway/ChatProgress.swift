import Foundation
import HearthBase
import HearthHTTP

/// Follows a streamed answer of Gemini: whether it has brought a token, and whether it has ended. Bytes in, facts out.
struct ChatProgress: Sendable {
    /// The two forms in which Gemini streams an answer.
    enum Mode: Sendable, Hashable {
        /// Lines `data: {…}`.
        case events
        /// One JSON array of pieces.
        case list

        /// The form that a client asks for: events, unless its `Accept` names JSON and no events.
        init(accept: String?) {
            let accept = accept?.lowercased() ?? ""
            self = accept.contains("application/json") && !accept.contains("text/event-stream") ? .list : .events
        }

        var contentType: String { self == .events ? "text/event-stream; charset=utf-8" : "application/json" }
    }

    /// The most bytes of one piece.
    private static let limit = 4 << 20

    private let mode: Mode
    private var events = ServerSentEventParser(.lines, limit: Self.limit)
    private var list = JSONArrayStream(limit: Self.limit)
    /// A piece with text, thinking or a call has arrived.
    private(set) var hasToken = false
    /// The answer's reason to end has arrived.
    private(set) var hasEnded = false
    /// The error that stands in place of a piece.
    private(set) var failure: JSONValue?

    init(_ mode: Mode) { self.mode = mode }

    /// Reads more bytes.
    /// - Throws: `HTTPError` for bytes of another form.
    mutating func append(_ bytes: [UInt8]) throws {
        switch mode {
        case .events:
            for event in try events.append(bytes) { read(Data(event.data.utf8)) }
        case .list:
            for piece in try list.append(bytes) { read(piece) }
        }
    }

    /// Reads the rest at the end of the body.
    mutating func finish() throws {
        guard mode == .events else { return }
        for event in try events.finish() { read(Data(event.data.utf8)) }
    }

    private mutating func read(_ data: Data) {
        // After both facts are known, no further piece changes them.
        if hasToken, hasEnded || failure != nil { return }
        // A piece that is no JSON is for the client to judge; it is no token.
        guard let members = (try? JSONValue(parsing: data))?.members else { return }
        if let error = members["error"], error != .null { failure = failure ?? error }
        if members["promptFeedback"]?.members?["blockReason"] != nil { hasEnded = true }
        guard case .array(let candidates)? = members["candidates"], let candidate = candidates.first?.members else {
            return
        }
        if case .array(let parts)? = candidate["content"]?.members?["parts"] {
            hasToken = hasToken || parts.contains(where: Self.isToken)
        }
        if candidate["finishReason"] != nil { hasEnded = true }
    }

    /// Whether a part of a piece is more than an empty text.
    private static func isToken(_ part: JSONValue) -> Bool {
        guard let members = part.members else { return false }
        if case .string(let text)? = members["text"] { return !text.isEmpty }
        return members.keys.contains { $0 != "thought" && $0 != "thoughtSignature" && $0 != "text" }
    }
}
