#if Llama
import HearthBase
import HearthInference

/// Saved conversations that return to the context.
extension ConversationMemory {
    /// The states of a conversation that are read into a sequence.
    struct Restored {
        /// A sequence that holds the beginning of the conversation.
        let source: Int?
        /// The tokens that are copied from it, up to the end of a state.
        let copied: Int
        /// The states that are read, the beginning first.
        let states: [(state: Int, end: Int)]
        let end: Int
        var readings: [StateCache.Reading] = []

        init(_ path: [(state: Int, end: Int)], source: (sequence: Int, count: Int)?) {
            copied = path.last { $0.end <= source?.count ?? 0 }?.end ?? 0
            self.source = copied > 0 ? source?.sequence : nil
            states = path.filter { [copied] in $0.end > copied }
            end = path.last?.end ?? 0
        }
    }

    /// The sequence that holds the most tokens of a saved conversation, where copies cost nothing.
    func source(of tokens: [TokenID]) -> (sequence: Int, count: Int)? {
        guard unit != nil else { return nil }
        return table.slots.indices.map { ($0, PrefixPlan.commonLength(sequences.ledger($0), tokens)) }
            .max { $0.1 < $1.1 }
    }

    /// Gives a sequence the tokens that another one, or it itself, holds of a saved conversation.
    func fill(_ slot: Int, from restored: Restored) {
        if restored.source == slot {
            sequences.truncate(slot, to: restored.copied)
        } else if let source = restored.source {
            sequences.copy(source, to: slot, count: restored.copied)
        } else {
            sequences.clear(slot)
        }
    }

    /// Adds saved states to the tokens of a sequence. A state that cannot be restored is not used again.
    /// - Returns: whether all were added.
    func restore(_ restored: Restored, in slot: Int) -> Bool {
        for (state, reading) in zip(restored.states, restored.readings) {
            guard restore(state.state, reading, in: slot) else { return false }
        }
        return restored.states.count == restored.readings.count
    }

    private func restore(_ number: Int, _ reading: StateCache.Reading, in slot: Int) -> Bool {
        let cache = cache(of: number)
        // The parts before it are gone from the context, which says nothing about this one.
        if let state = reading.state, sequences.ledger(slot).count < state.start { return false }
        if let state = reading.state, state.maker == maker,
            sequences.restore(state.tokens, state.state, from: state.start, in: slot)
        {
            cache.didRestore(number)
            return true
        }
        // The states that continue it are of no use without it.
        let gone = forget(number)
        switch reading {
        // The folder has logged the reason.
        case .unreadable:
            for one in gone { cache.leave(one) }
            return false
        case .gone, .damaged:
            Log.write(.info, "memory", "the saved state of a conversation is gone or damaged")
        case .whole:
            Log.write(.warning, "memory", "deleted the state of a conversation that cannot be restored")
        }
        for one in gone { cache.delete(one) }
        return false
    }
}

extension StateCache.Reading {
    fileprivate var state: StateFile? {
        if case .whole(let state) = self { state } else { nil }
    }
}
#endif
