import HearthBase
import HearthInference

/// What a request needs of a context window, in tokens.
struct WindowNeed: Sendable, Hashable {
    /// The tokens of the prompt, or the fewest that it has.
    var prompt: Int
    /// The tokens of the answer, as far as there is room for them.
    var answer: Int
    /// The most tokens of prompt and answer together; `nil` for the model's own length.
    var limit: Int?
}

/// Context windows that grow with the requests.
extension EnginePool {
    /// Has an engine leave after its requests, so that the next one loads it with a larger context window. The caller
    /// holds no lease.
    /// - Parameter present: the window in which the request found no room.
    /// - Returns: whether the next lease has a larger window, as far as the plan tells; `false` if the window is
    ///   configured, the model was not made for such a prompt, the request has a limit below it, or the memory plan refuses
    ///   it beside the engines in use.
    func widen(_ source: EngineSource, from present: Int, for need: WindowNeed) async throws -> Bool {
        guard let entry = state.read({ $0.entries[source] }) else { return false }
        // Not loaded: another request was faster.
        guard let engine = entry.engine else { return true }
        let information = try await engine.modelInformation
        if information.contextLength > present { return true }
        guard let widened = entry.prepared?.widened else { return false }
        let others = state.read { state in
            state.entries.filter { $0.key != source && !$0.value.isIdle }.values.map { memory[$0.number] ?? 0 }
        }.saturatedSum
        let broken = state.read { $0.brokenWindows[source] } ?? .max
        let lengths = Self.windows(from: present, for: need, trained: information.trainedContextLength ?? 0)
            .filter { $0 < broken }
        // A cache of fewer bits is for what fits in no other way, which is the shortest window.
        let tries = lengths.map { ($0, true) } + lengths.reversed().map { ($0, false) }
        for (length, isPlain) in tries {
            guard try await fits(widened(length, isPlain), beside: others) else { continue }
            return state.change { state in
                guard let now = state.entries[source], now.number == entry.number, !now.isLeaving else { return true }
                state.windows[source] = length
                state.entries[source]?.isLeaving = true
                state.entries[source]?.isWidening = true
                unloadLeaving(&state)
                return true
            }
        }
        return false
    }

    /// The windows to try in place of one of `present`, the longest first: twice as long as often as it takes, which leaves
    /// room for what follows; just enough; and just enough for the prompt.
    /// - Parameter trained: the model's own length; a window beyond it is of no use.
    static func windows(from present: Int, for need: WindowNeed, trained: Int) -> [Int] {
        let limit = min(trained, need.limit ?? trained)
        guard present > 0, limit > present, need.prompt < limit else { return [] }
        let whole = need.prompt + min(max(1, need.answer), limit - need.prompt)
        var double = present
        while double < whole { double = double > trained / 2 ? trained : 2 * double }
        func enough(_ count: Int) -> Int { count > trained - 256 ? trained : (count + 255) / 256 * 256 }
        var lengths: [Int] = []
        for length in [double, enough(whole), enough(need.prompt + 1)] where length > present {
            if lengths.last.map({ length < $0 }) ?? true { lengths.append(length) }
        }
        return lengths
    }

    private func fits(_ prepared: PreparedEngine, beside others: UInt64) async throws -> Bool {
        do {
            _ = try await blocking { try prepared.plan(others) }
            return true
        } catch let error as LLMError where error.code == .doesNotFit {
            return false
        }
    }
}

extension EnginePool.State {
    /// Has the engines of matching sources leave, and come back with their usual windows.
    mutating func leaveForGood(_ isMeant: (EngineSource) -> Bool) {
        for source in entries.keys where isMeant(source) {
            entries[source]?.isLeaving = true
            entries[source]?.isWidening = false
        }
        windows = windows.filter { !isMeant($0.key) }
        brokenWindows = brokenWindows.filter { !isMeant($0.key) }
    }
}
