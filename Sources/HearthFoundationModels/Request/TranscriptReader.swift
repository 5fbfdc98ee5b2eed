import HearthInference

/// Reads a transcript as the messages of a conversation.
///
/// An app may shorten a transcript anywhere. So a call without a result is left out, because chat templates require one for
/// each call, and a result without its call becomes a message of the user.
package struct TranscriptReader {
    private let readsPictures: Bool
    /// The calls with results.
    private let answered: Set<String>
    /// The calls whose results are to follow.
    private var open: Set<String> = []
    private var thinking = ""
    private var messages: [ChatMessage] = []

    /// The messages of a transcript.
    /// - Parameter readsPictures: whether the model reads pictures.
    /// - Throws: `unsupportedCapability` for a picture that the model does not read; `unsupportedContent` for other
    ///   content that cannot be read, and for a transcript without messages.
    package static func messages(
        of entries: [TranscriptEntry], readsPictures: Bool
    ) throws(RequestFailure) -> [ChatMessage] {
        var reader = Self(entries, readsPictures)
        for (place, entry) in entries.enumerated() { try reader.take(entry, at: place) }
        guard !reader.messages.isEmpty else {
            throw .unsupportedContent(Array(entries.indices), "the transcript has no message")
        }
        return reader.messages
    }

    private init(_ entries: [TranscriptEntry], _ readsPictures: Bool) {
        self.readsPictures = readsPictures
        answered = Set(
            entries.compactMap { entry in
                if case .toolOutput(_, let call, _) = entry.content { call } else { nil }
            })
    }

    private mutating func take(_ entry: TranscriptEntry, at place: Int) throws(RequestFailure) {
        switch entry.content {
        case .instructions(let segments, _): try append(.system, segments, entry, place)
        case .prompt(let segments, let schema):
            thinking = ""
            try append(.user, segments, entry, place)
            if let schema { messages[messages.count - 1].content += Self.showing(schema) }
        case .reasoning(let segments): thinking += try read(segments, place).text
        case .response(let segments):
            try append(.assistant, segments, entry, place)
            messages[messages.count - 1].thinking = thinking
            thinking = ""
        case .toolCalls(let calls): append(calls.filter { answered.contains($0.id) }, entry)
        case .toolOutput(let segments, let call, let tool):
            guard open.remove(call) != nil else {
                messages.append(SpelledTools.result(try read(segments, place).text))
                return
            }
            try append(.tool, segments, entry, place)
            messages[messages.count - 1].toolCallID = call
            messages[messages.count - 1].toolName = tool
        case .other: break
        }
    }

    /// Adds calls to the answer before them, or as an answer of their own.
    private mutating func append(_ calls: [ToolCall], _ entry: TranscriptEntry) {
        defer { thinking = "" }
        guard !calls.isEmpty else { return }
        open.formUnion(calls.map(\.id))
        if let last = messages.last, last.role == .assistant, last.toolCalls.isEmpty {
            messages[messages.count - 1].toolCalls = calls
        } else {
            messages.append(ChatMessage(.assistant, "", thinking: thinking, toolCalls: calls, id: entry.id))
        }
    }

    private mutating func append(
        _ role: ChatRole, _ segments: [TranscriptSegment], _ entry: TranscriptEntry, _ place: Int
    ) throws(RequestFailure) {
        let (text, pictures) = try read(segments, place)
        messages.append(ChatMessage(role, text, images: pictures, id: entry.id))
    }

    /// The text and pictures of segments. Pictures come before the text, in which their labels stand at their places.
    private func read(
        _ segments: [TranscriptSegment], _ place: Int
    ) throws(RequestFailure) -> (text: String, pictures: [ChatImage]) {
        var texts: [String] = []
        var pictures: [ChatImage] = []
        for segment in segments {
            switch segment {
            case .text(let text), .structure(let text): texts.append(text)
            case .picture(let bytes, let label):
                guard readsPictures else {
                    throw .unsupportedCapability(.vision, "the model reads no pictures")
                }
                do {
                    pictures.append(try ChatImage(bytes))
                } catch {
                    throw .unsupportedContent([place], "a picture cannot be read: \(error)")
                }
                if let label { texts.append("[\(label)]") }
            case .unreadable: throw .unsupportedContent([place], "the entry holds content of an unknown kind")
            }
        }
        return (texts.joined(separator: "\n"), pictures)
    }

    /// The words with which a model is shown the schema of its answer.
    private static func showing(_ schema: String) -> String {
        "\n\nAnswer with JSON that meets this schema:\n\((try? AppleSchema.standard(schema)) ?? schema)"
    }
}
