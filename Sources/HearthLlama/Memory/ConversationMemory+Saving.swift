#if Llama
import HearthBase
import HearthInference

/// The saving of conversations, in parts of ``unit`` tokens where sequences share their cells.
extension ConversationMemory {
    /// Adds the saved states of the folder. A part follows the one that it continues, whatever their dates are.
    func addFound() {
        let found = states.found(maker: maker, window: sequences.context.length)
        var numbers: [Int: Int] = [:]
        for (index, state) in found.enumerated().sorted(by: { $0.element.start < $1.element.start }) {
            let parent = state.start > 0 ? table.state(of: Array(state.tokens[..<state.start])) : nil
            guard state.start == 0 || parent != nil else {
                // Its beginning is gone.
                states.delete(state.place)
                continue
            }
            numbers[index] = add(state.place, held(state.tokens), after: parent, state.bytes, slot: nil)
        }
        for index in found.indices {
            if let number = numbers[index] { table.didUse(number) }
        }
    }

    /// Saves the tokens of a sequence that no saved state has.
    /// - Parameter slot: the sequence, if it keeps its tokens.
    func save(_ sequence: Int, as slot: Int?) {
        let tokens = sequences.ledger(sequence)
        if let known = table.state(of: tokens) {
            if let slot { table.didFindSaved(known, slot: slot) }
            return states.date(table.path(to: known).map(\.state))
        }
        let base = unit.flatMap { table.base(of: tokens, unit: $0) }
        var (parent, start) = (base?.state, base?.count ?? 0)
        while start < tokens.count {
            let end = unit.map { min(tokens.count, (start / $0 + 1) * $0) } ?? tokens.count
            guard let (part, bytes) = sequences.state(of: sequence, start..<end, limit: states.limit) else { break }
            let state = StateFile(maker: maker, tokens: part, start: start, state: bytes)
            guard let place = states.place(for: state, isNext: start > base?.count ?? 0),
                let added = add(
                    place, held(part), after: parent, state.byteCount, slot: end == tokens.count ? slot : nil)
            else { break }
            (parent, start) = (added, end)
        }
        if let parent { states.date(table.path(to: parent).map(\.state)) }
    }

    /// - Returns: the number of the state; `nil` if there is no room for it.
    @discardableResult
    func add(
        _ place: StateCache.Place, _ held: HeldPrefix, after parent: Int? = nil, _ bytes: UInt64, slot: Int?
    ) -> Int? {
        let saved = table.didSave(held, after: parent, bytes: bytes, slot: slot)
        states.keep(place, as: saved.state)
        for old in saved.deletes { states.delete(old) }
        return saved.deletes.contains(saved.state) ? nil : saved.state
    }
}
#endif
