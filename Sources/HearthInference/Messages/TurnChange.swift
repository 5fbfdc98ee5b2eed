/// A change of a conversation for a chat template that refuses it as it is.
package enum TurnChange: String, Sendable, Hashable, CaseIterable {
    /// Neighbours of one role become one message.
    case merged = "neighbours-merged"
    /// A conversation that begins with an answer gets an empty question before it.
    case userFirst = "empty-user-first"
    /// A conversation without a question gets an empty one at its end.
    case userLast = "empty-user-last"
    /// Ids of calls become nine letters and digits.
    case callIDs = "call-ids-shortened"
    /// System messages become one at the beginning.
    case systemFirst = "system-first"
    /// The system message becomes the beginning of the first question.
    case systemInUser = "system-in-user"

    /// How much of the conversation's form is lost.
    private var weight: Int {
        switch self {
        case .merged, .userFirst, .userLast, .callIDs: 1
        case .systemFirst: 2
        case .systemInUser: 4
        }
    }

    /// The sets of changes to try, those that change least first.
    package static func candidates(for messages: [ChatMessage]) -> [[TurnChange]] {
        var useful = allCases.filter { messages.changed(by: [$0]) != messages }
        // Other changes make neighbours.
        if !useful.isEmpty, !useful.contains(.merged) { useful.append(.merged) }
        let sets = (1..<1 << useful.count).map { bits in
            useful.indices.filter { bits & 1 << $0 != 0 }.map { useful[$0] }
        }
        .filter { !($0.contains(.systemInUser) && $0.contains(.systemFirst)) }
        .sorted { left, right in left.reduce(0) { $0 + $1.weight } < right.reduce(0) { $0 + $1.weight } }
        var seen: [[ChatMessage]] = [messages]
        return sets.filter { set in
            let changed = messages.changed(by: set)
            guard !seen.contains(changed) else { return false }
            seen.append(changed)
            return true
        }
    }
}

extension [ChatMessage] {
    /// The conversation after some changes.
    package func changed(by changes: [TurnChange]) -> [ChatMessage] {
        var messages = self
        if changes.contains(.callIDs) { messages = messages.withShortIDs }
        if changes.contains(.systemFirst) { messages = messages.withSystemFirst }
        if changes.contains(.systemInUser) { messages = messages.withSystemInUser }
        if changes.contains(.userLast), !messages.contains(where: { $0.role == .user }) {
            messages.append(ChatMessage(.user, ""))
        }
        if changes.contains(.userFirst) { messages = messages.withUserFirst }
        if changes.contains(.merged) { messages = messages.withNeighboursMerged }
        return messages
    }

    private static func joined(_ texts: [String]) -> String { texts.filter { !$0.isEmpty }.joined(separator: "\n\n") }

    private var withSystemFirst: [ChatMessage] {
        let system = filter { $0.role == .system }
        guard var first = system.first else { return self }
        first.content = Self.joined(system.map(\.content))
        return [first] + filter { $0.role != .system }
    }

    private var withSystemInUser: [ChatMessage] {
        let system = filter { $0.role == .system }
        guard !system.isEmpty else { return self }
        let text = Self.joined(system.map(\.content))
        var others = filter { $0.role != .system }
        // The question that the system message stood before; an answer may come first.
        if let first = others.first, first.role == .user {
            others[0].content = Self.joined([text, first.content])
            return others
        }
        return [ChatMessage(.user, text)] + others
    }

    private var withUserFirst: [ChatMessage] {
        guard let place = firstIndex(where: { $0.role != .system }), self[place].role == .assistant else { return self }
        return self[..<place] + [ChatMessage(.user, "")] + self[place...]
    }

    private var withNeighboursMerged: [ChatMessage] {
        var result: [ChatMessage] = []
        for message in self {
            guard let last = result.last, last.role == message.role, message.role != .tool, last.toolCalls.isEmpty
            else {
                result.append(message)
                continue
            }
            var merged = last
            merged.content = Self.joined([last.content, message.content])
            merged.thinking = Self.joined([last.thinking, message.thinking])
            merged.images += message.images
            merged.toolCalls = message.toolCalls
            result[result.count - 1] = merged
        }
        return result
    }

    private var withShortIDs: [ChatMessage] {
        var numbers: [String: Int] = [:]
        func short(_ id: String) -> String {
            let isShort =
                id.utf8.count == 9
                && id.utf8.allSatisfy { Character(Unicode.Scalar($0)).isLetter || (48...57).contains($0) }
            if isShort { return id }
            let number = numbers[id] ?? numbers.count
            numbers[id] = number
            let digits = String(number % 100_000)
            return "call" + String(repeating: "0", count: 5 - digits.count) + digits
        }
        return map { message in
            var message = message
            for index in message.toolCalls.indices { message.toolCalls[index].id = short(message.toolCalls[index].id) }
            message.toolCallID = message.toolCallID.map { $0.isEmpty ? $0 : short($0) }
            return message
        }
    }
}
