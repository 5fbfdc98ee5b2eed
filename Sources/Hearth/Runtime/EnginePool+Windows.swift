import HearthBase
import HearthInference

/// Context windows that grow with the requests.
extension EnginePool {
    /// Has an engine leave after its requests, so that the next one loads it with a context window for `tokens`. The
    /// caller holds no lease.
    /// - Parameter isExact: whether the window is no larger than that; otherwise it leaves room for longer prompts if there
    ///   is memory for it.
    /// - Returns: whether the next lease has such a window, as far as the plan tells; `false` if the window is configured,
    ///   the model was not made for it, or there is no room for it beside the engines in use.
    func widen(_ source: EngineSource, toHold tokens: Int, isExact: Bool = false) async throws -> Bool {
        guard let entry = state.read({ $0.entries[source] }), let engine = entry.engine else { return false }
        let information = try await engine.modelInformation
        if information.contextLength >= tokens { return true }
        guard let widened = entry.prepared?.widened else { return false }
        let lengths = Self.windows(
            from: information.contextLength, toHold: tokens, trained: information.trainedContextLength ?? 0)
        let others = state.read { state in
            state.entries.filter { $0.key != source && !$0.value.isIdle }.values.map { memory[$0.number] ?? 0 }
        }.saturatedSum
        for length in isExact ? lengths.suffix(1) : lengths {
            guard try await fits(widened(length), beside: others) else { continue }
            return state.change { state in
                // Another request may have been faster.
                guard state.entries[source]?.number == entry.number else { return true }
                if let chosen = state.windows[source], chosen >= length { return true }
                state.windows[source] = length
                state.entries[source]?.isLeaving = true
                state.entries[source]?.isWidening = true
                unloadLeaving(&state)
                return true
            }
        }
        return false
    }

    /// The windows to try for `needed` tokens in place of one of `present`: twice as many as often as it takes, which leaves
    /// room for what follows, or just enough.
    /// - Parameter trained: the model's own length; a window beyond it is of no use.
    static func windows(from present: Int, toHold needed: Int, trained: Int) -> [Int] {
        guard present > 0, needed > present, needed <= trained else { return [] }
        var large = present
        while large < needed { large = large > trained / 2 ? trained : 2 * large }
        let small = needed > trained - 256 ? trained : (needed + 255) / 256 * 256
        return large == small ? [large] : [large, small]
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
