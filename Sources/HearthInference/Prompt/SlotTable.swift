/// Chooses the sequence of an engine for each prompt, so that several conversations keep their computed state.
///
/// A decision only: the engine copies, saves, restores and computes, and tells the table what it did. At equal places the
/// least recently used goes first; a sequence that computes is never taken.
package struct SlotTable: Sendable, Hashable {
    /// One sequence of the context.
    package struct Slot: Sendable, Hashable {
        /// The content of its memory.
        package fileprivate(set) var held: HeldPrefix
        /// A request computes in it.
        package fileprivate(set) var isBusy = false
        /// The saved state that has all its tokens.
        package fileprivate(set) var saved: Int?
        /// The number of its tokens that belong to prompts rather than to the last answer.
        fileprivate var asked = 0
        fileprivate var lastUse = 0
    }

    /// The way in which a prompt gets its sequence.
    package struct Choice: Sendable, Hashable {
        /// The sequence, which is busy from now on.
        package let slot: Int
        /// Its state has to be saved first, because it is about to be overwritten and worth keeping.
        package let saves: Bool
        /// A saved state to load into the sequence first.
        package let restores: Int?
        /// Copy so many tokens from another sequence first.
        package let copies: Copy?
        /// The steps to take then.
        package let plan: PrefixPlan

        /// The front of another sequence.
        package struct Copy: Sendable, Hashable {
            package let slot: Int
            package let count: Int

            /// So many tokens of a sequence.
            package init(slot: Int, count: Int) {
                self.slot = slot
                self.count = count
            }
        }
    }

    /// The limits of the context.
    package struct Rules: Sendable, Hashable {
        /// Sequences share cells, so that the front of one costs nothing in another.
        package var canCopy: Bool
        /// States can be saved.
        package var canSave: Bool
        /// Fewer tokens are computed again rather than saved, restored or copied; but what is at least half of a prompt is
        /// always copied. Default 64.
        package var fewestTokens: Int
        /// The bytes all saved states may take; a larger state is not kept, and with 0 none is. Default 1 GiB.
        package var savedBytes: UInt64

        /// The given rules.
        package init(
            canCopy: Bool = true, canSave: Bool = true, fewestTokens: Int = 64, savedBytes: UInt64 = 1 << 30
        ) {
            self.canCopy = canCopy
            self.canSave = canSave
            self.fewestTokens = fewestTokens
            self.savedBytes = savedBytes
        }

        fileprivate var keepsStates: Bool { canSave && savedBytes > 0 }
    }

    private struct SavedState: Sendable, Hashable {
        let held: HeldPrefix
        let bytes: UInt64
        var lastUse: Int
    }

    package private(set) var rules: Rules
    /// The sequences by number.
    package private(set) var slots: [Slot]
    private var states: [Int: SavedState] = [:]
    private var nextState = 0
    private var clock = 0

    /// A table of empty sequences.
    package init(count: Int, rules: Rules = Rules()) {
        self.rules = rules
        slots = (0..<max(1, count)).map { _ in Slot(held: HeldPrefix(tokens: [])) }
    }

    /// The saved states there are.
    package var savedStates: Set<Int> { Set(states.keys) }

    /// Finds a sequence for a prompt and makes it busy; `nil` when all are.
    ///
    /// 1. The one whose conversation continues, the longest of them: all it holds begins the prompt, or all that was asked in it,
    ///    where the template retells the answer in another way or the same is asked again. Also one at whose end only few
    ///    tokens differ.
    /// 2. A saved state of which more is of use than of any sequence, loaded into an empty one, else into the least recently
    ///    used. Of several that are of equal use the shortest, which leaves the most room to others.
    /// 3. An empty sequence, else the least recently used; with a copy of the front another one has, such as a system
    ///    prompt that all share, or a conversation up to a question that was edited.
    ///
    /// - Parameters:
    ///   - asked: the tokens of the prompt before the beginning of the answer, `nil` for all.
    ///   - room: the most tokens a saved state may have to be loaded now; longer ones stay as they are.
    package mutating func choose(
        prompt: [Int32], asked: Int? = nil, isTruncated: Bool = false, room: Int = .max
    ) -> Choice? {
        let free = slots.indices.filter { !slots[$0].isBusy }
        guard !free.isEmpty else { return nil }
        clock += 1
        let own = free.map { (slot: $0, common: common($0, prompt)) }
            .filter { goesOn(slots[$0.slot], sharing: $0.common, with: prompt.count) }
            .max { ($0.common, slots[$0.slot].lastUse) < ($1.common, slots[$1.slot].lastUse) }
        let best = bestState(for: prompt, room: room)
        let asked = min(asked ?? prompt.count, prompt.count)
        if let own, !isWorthLoading(best, beside: reused(own.slot, prompt)) {
            return take(own.slot, prompt, asked, isTruncated)
        }

        let target = free.min { left, right in
            let isLeftFull = !slots[left].held.tokens.isEmpty
            let isRightFull = !slots[right].held.tokens.isEmpty
            return isLeftFull != isRightFull ? !isLeftFull : slots[left].lastUse < slots[right].lastUse
        }
        guard let target else { return nil }
        let evicted = slots[target]
        let saves =
            rules.keepsStates && evicted.saved == nil && evicted.held.tokens.count >= rules.fewestTokens
        let copy = copy(to: target, prompt)
        // Tokens in the context cost nothing, whether held or copied.
        let present = max(reused(target, prompt), copy?.count ?? 0)
        if let best, isWorthLoading(best, beside: present) {
            states[best.state]?.lastUse = clock
            slots[target].held = states[best.state]?.held ?? HeldPrefix(tokens: [])
            slots[target].saved = best.state
            return take(target, prompt, asked, isTruncated, saves: saves, restores: best.state)
        }
        if let copy {
            slots[target].held = HeldPrefix(tokens: Array(prompt.prefix(copy.count)))
            slots[target].saved = nil
        }
        return take(target, prompt, asked, isTruncated, saves: saves, copies: copy)
    }

    /// The tokens with which both what a sequence holds and a prompt begin.
    private func common(_ slot: Int, _ prompt: [Int32]) -> Int {
        PrefixPlan.commonLength(slots[slot].held.tokens, prompt)
    }

    /// The number of them that need not be computed: fewer where memory cannot go back.
    private func reused(_ slot: Int, _ prompt: [Int32]) -> Int {
        PrefixPlan(held: slots[slot].held, prompt: prompt).reused
    }

    /// The saved state that is of most use to a prompt.
    private func bestState(for prompt: [Int32], room: Int) -> (state: Int, reused: Int)? {
        guard rules.keepsStates else { return nil }
        return states.filter { $0.value.held.tokens.count <= room }
            .map { state, saved in
                (
                    state: state, reused: PrefixPlan(held: saved.held, prompt: prompt).reused,
                    length: saved.held.tokens.count, use: saved.lastUse
                )
            }
            .max { ($0.reused, -$0.length, $0.use) < ($1.reused, -$1.length, $1.use) }
            .flatMap { $0.reused >= rules.fewestTokens ? (state: $0.state, reused: $0.reused) : nil }
    }

    /// Whether loading a saved state saves enough tokens beside those present.
    private func isWorthLoading(_ state: (state: Int, reused: Int)?, beside present: Int) -> Bool {
        state.map { $0.reused > present + rules.fewestTokens } ?? false
    }

    /// The longest front that another sequence can lend to one, if it is worth that.
    private func copy(to target: Int, _ prompt: [Int32]) -> Choice.Copy? {
        guard rules.canCopy else { return nil }
        let source = slots.indices.filter { $0 != target }.map { (slot: $0, common: common($0, prompt)) }
            .max { $0.common < $1.common }
        // A short prompt asked again after a long answer has few tokens, and they are all it has.
        guard let source, source.common >= rules.fewestTokens || source.common * 2 >= prompt.count,
            slots[source.slot].held.reach == .anywhere, source.common > common(target, prompt)
        else { return nil }
        return Choice.Copy(slot: source.slot, count: source.common)
    }

    /// Whether a prompt continues what a sequence holds, so that no state of another conversation is lost.
    private func goesOn(_ slot: Slot, sharing common: Int, with prompt: Int) -> Bool {
        let held = slot.held.tokens.count
        guard common > 0, common < held else { return common > 0 }
        let isMost = common * 2 >= held
        // Asked again, a long answer is kept beside the new one.
        if common >= slot.asked { return isMost || common < prompt }
        return isMost && held - common < rules.fewestTokens
    }

    private mutating func take(
        _ slot: Int, _ prompt: [Int32], _ asked: Int, _ isTruncated: Bool, saves: Bool = false, restores: Int? = nil,
        copies: Choice.Copy? = nil
    ) -> Choice {
        slots[slot].isBusy = true
        slots[slot].asked = asked
        slots[slot].lastUse = clock
        return Choice(
            slot: slot, saves: saves, restores: restores, copies: copies,
            plan: PrefixPlan(held: slots[slot].held, prompt: prompt, isTruncated: isTruncated))
    }

    /// Whether a free sequence holds all of a prompt and can go back to its end, so that no token of it is left to compute.
    package func holds(_ prompt: [Int32]) -> Bool {
        slots.contains { slot in
            let held = slot.held.tokens
            return !slot.isBusy && held.starts(with: prompt)
                && slot.held.reach.allows(keeping: prompt.count, of: held.count)
        }
    }

    /// A sequence is free again; `held` is what its memory really holds now.
    package mutating func release(_ slot: Int, holding held: HeldPrefix) {
        clock += 1
        if let saved = slots[slot].saved, states[saved]?.held.tokens != held.tokens { slots[slot].saved = nil }
        slots[slot].held = held
        slots[slot].isBusy = false
        slots[slot].lastUse = clock
    }

    /// Records the present tokens of a computing sequence, so that its front can be copied.
    package mutating func note(_ slot: Int, holding held: HeldPrefix) {
        guard slots[slot].isBusy else { return }
        slots[slot].held = held
    }

    /// The tokens of all idle sequences except one.
    package func idleTokens(except slot: Int) -> Int {
        idleSlots(except: slot).reduce(0) { $0 + slots[$1].held.tokens.count }
    }

    /// The sequence to empty first where room is needed: idle and not empty.
    package func leastRecentlyUsed(except slot: Int) -> Int? {
        idleSlots(except: slot).min { slots[$0].lastUse < slots[$1].lastUse }
    }

    /// The other sequences that are idle and hold tokens.
    package func idleSlots(except slot: Int) -> [Int] {
        slots.indices.filter { $0 != slot && !slots[$0].isBusy && !slots[$0].held.tokens.isEmpty }
    }

    /// The sequences worth saving before the context goes, the most recently used first.
    package var unsavedSlots: [Int] {
        guard rules.keepsStates else { return [] }
        return slots.indices
            .filter {
                !slots[$0].isBusy && slots[$0].saved == nil && slots[$0].held.tokens.count >= rules.fewestTokens
            }
            .sorted { slots[$0].lastUse > slots[$1].lastUse }
    }

    /// A state was saved.
    /// - Parameters:
    ///   - held: what it holds.
    ///   - bytes: its size.
    ///   - slot: the sequence that still has it, `nil` when that has been overwritten.
    /// - Returns: the number it has from now on, and the saved states to be deleted: those it continues, and the least
    ///   recently used beyond the bytes allowed. A state larger than all of them together is the only one deleted.
    package mutating func didSave(
        _ held: HeldPrefix, bytes: UInt64, slot: Int? = nil
    ) -> (state: Int, deletes: [Int]) {
        clock += 1
        let state = nextState
        nextState += 1
        guard bytes <= rules.savedBytes else { return (state, [state]) }
        var deletes = states.filter { held.tokens.starts(with: $0.value.held.tokens) }.map(\.key)
        for old in deletes { forget(old) }
        states[state] = SavedState(held: held, bytes: bytes, lastUse: clock)
        if let slot, slots[slot].held.tokens == held.tokens { slots[slot].saved = state }
        deletes += trimSaved()
        return (state, deletes.sorted())
    }

    /// From now on all saved states may take so many bytes, 0 for none.
    /// - Returns: the saved states to be deleted, the least recently used.
    package mutating func limitSaved(to bytes: UInt64) -> [Int] {
        rules.savedBytes = bytes
        return trimSaved().sorted()
    }

    private mutating func trimSaved() -> [Int] {
        var deletes: [Int] = []
        while states.values.reduce(0, { $0 + $1.bytes }) > rules.savedBytes,
            let oldest = states.min(by: { $0.value.lastUse < $1.value.lastUse })?.key
        {
            forget(oldest)
            deletes.append(oldest)
        }
        return deletes
    }

    /// A saved state is gone or cannot be read; what was to be restored from it is computed instead.
    package mutating func forget(_ state: Int) {
        states[state] = nil
        for index in slots.indices where slots[index].saved == state { slots[index].saved = nil }
    }
}
