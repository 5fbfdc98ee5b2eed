/// The saved states of conversations.
extension SlotTable {
    /// The numbers of the saved states.
    package var savedStates: Set<Int> { states.numbers }

    /// A saved state with those that it continues, the first one first, each with the number of tokens up to its end.
    package func path(to state: Int) -> [(state: Int, end: Int)] {
        states.path(to: state).map { ($0, states.end(of: $0)) }
    }

    /// The longest saved state that a sequence with these tokens continues; its tokens need not be saved again.
    /// - Parameter unit: states that end at a multiple of it can be continued.
    package func base(of tokens: [Int32], unit: Int) -> (state: Int, count: Int)? {
        states.base(of: tokens, unit: unit)
    }

    /// All tokens up to the end of a saved state; none for one that is gone.
    package func tokens(of state: Int) -> [Int32] { states.held(state)?.tokens ?? [] }

    /// Records a use of a saved state and of those that it continues.
    package mutating func didUse(_ state: Int) {
        clock += 1
        states.use(state, at: clock)
    }

    /// The saved state that has exactly these tokens; `nil` for none, and for a shared one.
    package func state(of tokens: [Int32]) -> Int? { states.state(of: tokens) }

    /// Records a saved state.
    /// - Parameters:
    ///   - held: all tokens up to its end.
    ///   - parent: the state that holds its beginning; `nil` for a state that begins at the first token.
    ///   - bytes: its size.
    ///   - slot: the sequence that still holds the tokens, `nil` if they were overwritten.
    /// - Returns: the number of the new state, and the saved states to delete: those that it replaces, and the least
    ///   valuable beyond the limit. A state larger than the limit is itself the only one to delete, and so is one whose
    ///   parent is gone.
    package mutating func didSave(
        _ held: HeldPrefix, after parent: Int? = nil, bytes: UInt64, slot: Int? = nil
    ) -> (state: Int, deletes: [Int]) {
        clock += 1
        guard bytes <= rules.savedBytes, parent.map({ states.numbers.contains($0) }) ?? true else {
            let state = states.take()
            return (state, [state])
        }
        var deletes = states.replaced(by: held.tokens, after: parent)
        for old in deletes { forget(old) }
        let state = states.add(held, after: parent, bytes: bytes, at: clock)
        deletes += trimSaved()
        if let slot, slots[slot].held.tokens == held.tokens, !deletes.contains(state) { slots[slot].saved = state }
        return (state, deletes.sorted())
    }

    /// Records that a saved state has all tokens of a sequence.
    package mutating func didFindSaved(_ state: Int, slot: Int) {
        didUse(state)
        if states.held(state)?.tokens == slots[slot].held.tokens { slots[slot].saved = state }
    }

    /// Records a saved state of a beginning that many conversations share, such as the app's instructions. Neither a
    /// conversation nor the limit of saved bytes removes it.
    /// - Returns: the number of the new state.
    package mutating func didShare(_ held: HeldPrefix) -> Int {
        clock += 1
        return states.add(held, bytes: 0, isShared: true, at: clock)
    }

    /// Whether a shared state has exactly these tokens.
    package func shares(_ tokens: ArraySlice<Int32>) -> Bool { states.shares(tokens) }

    /// Sets the most bytes of all saved states, 0 for none.
    /// - Returns: the saved states to delete, the least valuable.
    package mutating func limitSaved(to bytes: UInt64) -> [Int] {
        rules.savedBytes = bytes
        return trimSaved().sorted()
    }

    private mutating func trimSaved() -> [Int] {
        let gone = states.trim(to: rules.savedBytes, now: clock)
        didForget(gone)
        return gone
    }

    /// Forgets a saved state that is deleted or cannot be read, with those that continue it; their tokens are computed
    /// instead.
    /// - Returns: the forgotten states.
    @discardableResult
    package mutating func forget(_ state: Int) -> [Int] {
        let gone = states.forget(state)
        didForget(gone)
        return gone
    }

    private mutating func didForget(_ gone: [Int]) {
        for index in slots.indices where slots[index].saved.map(gone.contains) ?? false { slots[index].saved = nil }
    }
}
