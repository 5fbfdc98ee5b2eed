import Foundation
import HearthBase
import HearthInference
import HearthRouting

/// Reads conversations of known formats into documents of this program.
enum ImportedConversation {
    /// The most bytes of one conversation.
    static let maximumSize = 96 << 20
    /// The most messages of one conversation, hidden ones too.
    static let maximumMessages = 100_000
    /// The most bytes of a title that is shortened; a longer one is no title.
    static let longestTitle = 64 << 10

    /// Reads a conversation.
    /// - Parameters:
    ///   - place: its place in the document. The names of its members tell the format.
    ///   - now: the date of a conversation without any.
    /// - Throws: ``AssistantError`` with a code that begins with `import-`.
    static func read(_ document: ImportDocument, _ place: Range<Int>, now: Date) throws -> ConversationExport {
        guard place.count <= maximumSize else {
            throw AssistantError(
                .importTooLarge, "the conversation is too large",
                context: ErrorContext(expected: "at most \(maximumSize) bytes", found: "\(place.count) bytes"))
        }
        let names = try document.names(of: place)
        let data = document[place]
        if names.isSuperset(of: ["conversation", "messages", "version"]) { return try own(data) }
        guard names.contains("mapping") || names.contains("chat") || names.contains("history") else {
            throw AssistantError(.importUnknown, "the entry is no conversation of a known format")
        }
        let value: JSONValue
        do {
            value = try JSONValue(parsing: data)
        } catch {
            throw AssistantError(.importUnreadable, "the conversation is damaged: \(error)", underlying: error)
        }
        let made =
            names.contains("mapping")
            ? try ChatGPTConversation(value, now: now).document()
            : try OpenWebUIConversation(value, now: now).document()
        guard !made.messages.isEmpty else {
            throw AssistantError(.importUnknown, "the conversation has no messages that people saw")
        }
        return made
    }

    // MARK: Own documents

    private static func own(_ data: Data) throws -> ConversationExport {
        var document: ConversationExport
        do {
            document = try ConversationExport(json: data)
        } catch let error as AssistantError {
            throw AssistantError(
                .importUnreadable, error.message, context: error.context, underlying: error.underlying ?? error)
        }
        guard isPlain(document.conversation.id), document.messages.allSatisfy({ isPlain($0.id) }) else {
            throw AssistantError(.importName, "an id in the conversation has characters that no id of this program has")
        }
        guard document.conversation.settings?.flaw == nil else {
            throw AssistantError(.importName, "a setting of the conversation cannot be used")
        }
        // Only the person here lets a conversation leave the device, never a file.
        if document.conversation.settings?.route == .cloud {
            document.conversation.settings?.route = nil
            if document.conversation.settings?.isEmpty == true { document.conversation.settings = nil }
        }
        guard document.conversation.title.utf8.count <= 1024 else {
            throw AssistantError(.importName, "the conversation's title is too long")
        }
        do {
            document.conversation.folder = try document.conversation.folder.flatMap { try ConversationPlace.folder($0) }
        } catch let error as AssistantError {
            throw AssistantError(.importName, error.message, underlying: error)
        }
        return try checked(document)
    }

    /// Whether a text can be an id: it stands in addresses.
    static func isPlain(_ id: String) -> Bool {
        (1...128).contains(id.utf8.count)
            && id.utf8.allSatisfy { byte in
                (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte)
                    || (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte)
                    || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) || [0x2D, 0x5F, 0x2E].contains(byte)
            } && id.contains { $0 != "." }
    }

    /// The beginnings of ids by the program that they are from.
    private static let foreign = ["gpt-", "webui-"]

    /// Whether a conversation or message is from another program.
    static func isForeign(_ id: String) -> Bool { foreign.contains { id.hasPrefix($0) } }

    /// An id of this program for one of another: the same each time.
    static func id(_ program: String, _ id: String) -> String {
        let isShort = isPlain(id) && id.utf8.count <= 80
        return "\(program)-" + (isShort ? id : String(SHA256Digest(hashing: Array(id.utf8)).hex.prefix(40)))
    }

    // MARK: Checks of all formats

    /// A document whose messages follow each other without a circle; it shows a leaf that exists.
    static func checked(_ document: ConversationExport) throws -> ConversationExport {
        var document = document
        guard document.messages.count <= maximumMessages else {
            throw AssistantError(
                .importTooLarge, "the conversation has too many messages",
                context: ErrorContext(expected: "at most \(maximumMessages)", found: "\(document.messages.count)"))
        }
        var parents: [String: String?] = [:]
        for message in document.messages {
            guard parents.updateValue(message.parent, forKey: message.id) == nil else {
                throw AssistantError(.importName, "two messages of the conversation have one id")
            }
        }
        try checkCircles(parents)
        for index in document.messages.indices { document.messages[index].isThinking = false }
        let tree = ConversationTree(document.messages)
        let leaf = document.conversation.leaf.flatMap { tree.message($0)?.id }
        document.conversation.leaf = leaf ?? tree.newestLeaf(below: nil)
        document.conversation.messageCount = document.messages.count
        return document
    }

    /// - Parameter parents: the parent of each message, by id.
    static func checkCircles(_ parents: [String: String?]) throws {
        var checked: Set<String> = []
        for id in parents.keys {
            var way: Set<String> = []
            var next: String? = id
            while let now = next, !checked.contains(now) {
                guard way.insert(now).inserted else {
                    throw AssistantError(.importCircle, "messages of the conversation follow each other in a circle")
                }
                next = parents[now] ?? nil
            }
            checked.formUnion(way)
        }
    }

    /// A title of another program on one line, at most 200 characters.
    static func title(_ value: JSONValue?) throws -> String {
        let text = value?.string ?? ""
        guard text.utf8.count <= longestTitle else {
            throw AssistantError(.importName, "the conversation's title is too long")
        }
        let line = text.split(whereSeparator: \.isWhitespace).joined(separator: " ")
        if line.count <= 200, line.utf8.count <= 1024 { return line }
        var cut = line.prefix(199)
        while cut.utf8.count > 1000 { cut = cut.dropLast() }
        return cut + "…"
    }

    /// A date of another program: seconds since 1970; milliseconds and smaller units by their size. `nil` for none.
    static func date(_ value: JSONValue?) throws -> Date? {
        switch value {
        case nil, .null?: return nil
        case .number(let digits)?:
            guard var seconds = Double(digits), seconds.isFinite else { break }
            for _ in 0..<3 where abs(seconds) > 1e11 { seconds /= 1000 }
            // From 1970 to the year 2200.
            guard (0...7_258_118_400).contains(seconds) else { break }
            return Timestamp(Date(timeIntervalSince1970: seconds)).date
        case .string(let text)?:
            guard let time = Timestamp(text), time.milliseconds >= 0 else { break }
            return time.date
        default: break
        }
        throw AssistantError(.importDate, "a date of the conversation cannot be read")
    }

    /// The facts of an answer that another program got.
    static func facts(model: String, source: RouteSource) -> AnswerFacts {
        AnswerFacts(
            model: String(model.prefix(100)), source: source, reason: importReason, finish: .endOfGeneration,
            usage: TokenUsage(promptTokens: 0, cachedTokens: 0, generatedTokens: 0),
            timings: GenerationTimings(firstTokenSeconds: 0, prefillTokensPerSecond: 0, decodeTokensPerSecond: 0))
    }

    /// The reason in the facts of imported answers.
    static let importReason = "imported"
}
