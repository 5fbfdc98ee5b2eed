import HearthBase

/// The parts of a request that its answer goes without, by kind. They are collected while the request is read.
package final class LeftOut: Sendable {
    /// The header of replies with the kinds.
    package static let header = "X-Hearth-Left-Out"

    /// The most kinds of one reply; `others` stands for the rest.
    private static let maximumCount = 24
    private static let maximumLength = 64

    /// Top-level fields that change no answer, and are not reported.
    private static let plain: Set<String> = [
        "user", "metadata", "store", "service_tier", "prompt_cache_key", "prompt_cache_retention",
        "safety_identifier", "cache_prompt", "id_slot", "client_metadata", "stream_options", "stream",
        "max_tool_calls", "template", "model", "top_logprobs", "encoding_format",
    ]

    private struct State {
        var kinds: [String] = []
        /// The top-level fields that ask for something.
        var fields: [String] = []
        /// The top-level fields that were read.
        var read: Set<String> = []
    }

    private let state = Locked(State())

    package init() {}

    /// Notes a kind once.
    package func add(_ kind: String) {
        let kind = Self.word(kind)
        state.withLock { state in
            guard !state.kinds.contains(kind), state.kinds.last != "others" else { return }
            state.kinds.append(state.kinds.count < Self.maximumCount ? kind : "others")
        }
    }

    /// Takes the names of a body's fields.
    func begin(_ members: JSONMembers) {
        let fields = members.keys.filter { key in
            guard let value = members[key], value != .null, !Self.plain.contains(key) else { return false }
            return !(value.items?.isEmpty ?? value.members?.isEmpty ?? false)
        }
        state.withLock { $0.fields = fields }
    }

    /// Notes that a top-level field was read.
    func read(_ key: String) { state.withLock { _ = $0.read.insert(key) } }

    /// Notes the top-level fields that nothing has read, except those that ask for nothing.
    func addUnread() {
        for field in state.withLock({ state in state.fields.filter { !state.read.contains($0) } }) { add(field) }
    }

    /// The kinds in the order of the request.
    package var kinds: [String] { state.withLock { $0.kinds } }

    /// The value of the header; `nil` if nothing is left out.
    package var text: String? {
        let kinds = kinds
        return kinds.isEmpty ? nil : kinds.joined(separator: ", ")
    }

    /// A kind as it may stand in a header and in a line of a log.
    private static func word(_ kind: String) -> String {
        let word = String(
            kind.unicodeScalars.prefix(maximumLength).map { scalar -> Character in
                let isPlain = scalar.isASCII && (scalar.properties.isAlphabetic || scalar.properties.numericType != nil)
                return isPlain || "_.-".unicodeScalars.contains(scalar) ? Character(scalar) : "_"
            })
        return word.isEmpty ? "unnamed" : word
    }
}
