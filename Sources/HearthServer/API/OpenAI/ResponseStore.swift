import HearthBase
import HearthInference

/// Keeps the latest responses in memory, so that later requests can continue or read them.
final class ResponseStore: Sendable {
    /// A stored response.
    struct Entry: Sendable {
        /// The conversation with its answer, without instructions.
        let messages: [ChatMessage]
        /// The response as JSON.
        let body: [UInt8]
        /// The input of the request alone.
        let input: [ChatMessage]
        /// What each item of the answer stands for.
        var items: [String: ChatMessage] = [:]

        fileprivate var size: Int {
            body.count
                + messages.reduce(0) { sum, message in
                    sum + 256 + message.content.utf8.count + message.images.reduce(0) { $0 + $1.bytes.count }
                }
        }
    }

    private struct State {
        var entries: [String: Entry] = [:]
        /// The ids by age, the oldest first.
        var order: [String] = []
        var bytes = 0

        mutating func remove(_ id: String) -> Bool {
            guard let entry = entries.removeValue(forKey: id) else { return false }
            order.removeAll { $0 == id }
            bytes -= entry.size
            return true
        }
    }

    private let state = Locked(State())
    private let maximumCount: Int
    private let maximumBytes: Int

    /// An empty store that drops the oldest responses beyond its limits.
    init(maximumCount: Int, maximumBytes: Int) {
        self.maximumCount = maximumCount
        self.maximumBytes = maximumBytes
    }

    func keep(_ id: String, _ entry: Entry) {
        guard entry.size <= maximumBytes else { return }
        state.withLock { state in
            _ = state.remove(id)
            state.entries[id] = entry
            state.order.append(id)
            state.bytes += entry.size
            while state.order.count > maximumCount || state.bytes > maximumBytes, let oldest = state.order.first {
                _ = state.remove(oldest)
            }
        }
    }

    /// What an item of a stored response stands for.
    func item(_ id: String) -> ChatMessage? {
        state.withLock { state in
            for entry in state.entries.values { if let item = entry.items[id] { return item } }
            return nil
        }
    }

    /// - Throws: ``APIFailure`` for an id that is not stored.
    func entry(_ id: String, field: String? = nil) throws(APIFailure) -> Entry {
        guard let entry = state.withLock({ $0.entries[id] }) else { throw Self.missing(id, field) }
        return entry
    }

    /// - Throws: ``APIFailure`` for an id that is not stored.
    func remove(_ id: String) throws(APIFailure) {
        guard state.withLock({ $0.remove(id) }) else { throw Self.missing(id, nil) }
    }

    private static func missing(_ id: String, _ field: String?) -> APIFailure {
        APIFailure(.notFound, "the response `\(id.prefix(100))` is not stored here", field: field)
    }
}
