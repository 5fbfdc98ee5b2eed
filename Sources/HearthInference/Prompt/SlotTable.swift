/// Chooses the sequence of an engine for each prompt, so that several conversations keep their computed state.
///
/// The table only decides: the engine copies, saves, restores and computes, and reports each step to the table. Of
/// equal candidates the least recently used is taken first, long conversations later than short ones; a computing
/// sequence is never taken.
package struct SlotTable: Sendable, Hashable {
    /// One sequence of the context.
    package struct Slot: Sendable, Hashable {
        /// The tokens in its memory.
        package fileprivate(set) var held: HeldPrefix
        /// Whether a request computes in the sequence.
        package fileprivate(set) var isBusy = false
        /// The number of the saved state that has all its tokens.
        package internal(set) var saved: Int?
        /// The number of its tokens that belong to prompts and not to the last answer.
        fileprivate var asked = 0
        fileprivate var lastUse = 0
    }

    /// The sequence of a prompt, and how it is filled.
    package struct Choice: Sendable, Hashable {
        /// The sequence, which is marked busy.
        package let slot: Int
        /// Whether its present state must be saved first, because it will be overwritten and is worth keeping.
        package let saves: Bool
        /// The saved state to load into the sequence first.
        package let restores: Int?
        /// The tokens to copy from another sequence first.
        package let copies: Copy?
        /// The plan for the memory afterwards.
        package let plan: PrefixPlan

        /// The first tokens of another sequence.
        package struct Copy: Sendable, Hashable {
            package let slot: Int
            package let count: Int
        }
    }

    /// The limits of the context.
    package struct Rules: Sendable, Hashable {
        /// Whether sequences share cells, so that a copied beginning needs no further cells.
        package var canCopy: Bool
        /// Whether states can be saved.
        package var canSave: Bool
        /// The fewest tokens that are saved or restored; fewer are computed again. Default 64.
        package var fewestTokens: Int
        /// The tokens of a sequence whose state is copied in about the time that computing one token takes; `nil` where
        /// sequences share their cells, and a copy costs nothing.
        package var copiedForOneComputed: Int?
        /// The most bytes of all saved states; a larger state is not kept, and 0 keeps none. Default 1 GiB.
        package var savedBytes: UInt64

        /// The given rules.
        package init(
            canCopy: Bool = true, canSave: Bool = true, fewestTokens: Int = 64,
            copiedForOneComputed: Int? = nil, savedBytes: UInt64 = 1 << 30
        ) {
            self.canCopy = canCopy
            self.canSave = canSave
            self.fewestTokens = fewestTokens
            self.copiedForOneComputed = copiedForOneComputed
            self.savedBytes = savedBytes
        }

        fileprivate var keepsStates: Bool { canSave && savedBytes > 0 }
    }

    /// The fewest tokens that are copied within the context, such as the system prompt that a template writes itself.
    /// Tokens that are at least half of a prompt are always copied.
    private static let fewestCopied = 16

    package internal(set) var rules: Rules
    /// The sequences by number.
    package internal(set) var slots: [Slot]
    var states = StateTree()
    /// Counts the uses of sequences and states.
    var clock = 0

    /// Makes a table of empty sequences.
    package init(count: Int, rules: Rules = Rules()) {
        self.rules = rules
        slots = (0..<max(1, count)).map { _ in Slot(held: HeldPrefix(tokens: [])) }
    }

    /// Finds a sequence for a prompt and marks it busy; `nil` when all are busy.
    ///
    /// 1. The sequence whose conversation continues, the longest of several. Either all its tokens begin the prompt, or
    ///    its questions do: the template then writes the answer in another way, or the same question is asked again. Also
    ///    a sequence that differs only in a few tokens at its end.
    /// 2. A saved state that saves more tokens than any sequence. It is loaded into an empty sequence, otherwise into
    ///    the least recently used. Of equal states the shortest is taken, which leaves the most room to others.
    /// 3. An empty sequence, otherwise the least recently used. It gets a copy of another sequence's beginning, such as
    ///    a shared system prompt, or a conversation before an edited question.
    ///
    /// - Parameters:
    ///   - asked: the tokens of the prompt before the beginning of the answer, `nil` for all.
    ///   - room: the most tokens of a saved state that may be loaded now.
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
            return isLeftFull != isRightFull ? !isLeftFull : worth(left) < worth(right)
        }
        guard let target else { return nil }
        let evicted = slots[target]
        let saves =
            rules.keepsStates && evicted.saved == nil && evicted.held.tokens.count >= rules.fewestTokens
        let copy = copy(to: target, prompt)
        // Tokens in the context need no computation, whether held or copied.
        let present = max(reused(target, prompt), copy?.count ?? 0)
        if let best, isWorthLoading(best, beside: present) {
            states.use(best.state, at: clock)
            slots[target].held = states.held(best.state) ?? HeldPrefix(tokens: [])
            slots[target].saved = best.state
            return take(target, prompt, asked, isTruncated, saves: saves, restores: best.state)
        }
        if let copy {
            slots[target].held = HeldPrefix(tokens: Array(prompt.prefix(copy.count)))
            slots[target].saved = nil
        }
        return take(target, prompt, asked, isTruncated, saves: saves, copies: copy)
    }

    /// The tokens of a sequence for each use since its own last one: a long conversation takes long to read again.
    private func worth(_ slot: Int) -> Double {
        Double(slots[slot].held.tokens.count) / Double(max(0, clock - slots[slot].lastUse) + 1)
    }

    /// The length of the common beginning of a sequence's tokens and a prompt.
    private func common(_ slot: Int, _ prompt: [Int32]) -> Int {
        PrefixPlan.commonLength(slots[slot].held.tokens, prompt)
    }

    /// The number of a prompt's tokens that a sequence saves: fewer where the memory keeps no earlier state.
    private func reused(_ slot: Int, _ prompt: [Int32]) -> Int {
        PrefixPlan(held: slots[slot].held, prompt: prompt).reused
    }

    /// The saved state that saves the most tokens of a prompt.
    private func bestState(for prompt: [Int32], room: Int) -> (state: Int, reused: Int)? {
        states.best(for: prompt, room: room, onlyShared: !rules.keepsStates)
            .flatMap { $0.reused >= rules.fewestTokens ? $0 : nil }
    }

    /// Whether loading a saved state saves enough tokens beside those present.
    private func isWorthLoading(_ state: (state: Int, reused: Int)?, beside present: Int) -> Bool {
        state.map { $0.reused > present + rules.fewestTokens } ?? false
    }

    /// The beginning that saves the most time if another sequence lends it to `target`; `nil` if none is worth it.
    private func copy(to target: Int, _ prompt: [Int32]) -> Choice.Copy? {
        guard rules.canCopy else { return nil }
        // A short prompt that is asked again after a long answer has few tokens, but all of them are in the sequence.
        let fewest = min(Self.fewestCopied, (prompt.count + 1) / 2)
        return slots.indices.lazy
            .filter { $0 != target && slots[$0].held.reach == .anywhere }
            .map { (copy: Choice.Copy(slot: $0, count: common($0, prompt)), gain: gain($0, prompt)) }
            .filter { $0.copy.count >= fewest && $0.gain > common(target, prompt) }
            .max { $0.gain < $1.gain }?.copy
    }

    /// The computed tokens that a copy saves, less those that could be computed in the time that the copy of the whole
    /// sequence takes.
    private func gain(_ source: Int, _ prompt: [Int32]) -> Int {
        let cost = rules.copiedForOneComputed.map { slots[source].held.tokens.count / $0 } ?? 0
        return common(source, prompt) - cost
    }

    /// Whether a prompt continues a sequence's tokens, so that no state of another conversation is lost.
    private func goesOn(_ slot: Slot, sharing common: Int, with prompt: Int) -> Bool {
        let held = slot.held.tokens.count
        guard common > 0, common < held else { return common > 0 }
        let isMost = common * 2 >= held
        // If a question is asked again, a long answer is kept beside the new one.
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

    /// Whether a free sequence holds all tokens of a prompt and its memory can return to their end, so that none is
    /// left to compute.
    package func holds(_ prompt: [Int32]) -> Bool {
        slots.contains { slot in
            let held = slot.held.tokens
            return !slot.isBusy && held.starts(with: prompt)
                && slot.held.reach.allows(keeping: prompt.count, of: held.count)
        }
    }

    /// Marks a sequence free; `held` is the actual content of its memory.
    package mutating func release(_ slot: Int, holding held: HeldPrefix) {
        clock += 1
        if let saved = slots[slot].saved, states.held(saved)?.tokens != held.tokens { slots[slot].saved = nil }
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

    /// The first sequence to empty for room: the least recently used one that is idle and not empty.
    package func leastRecentlyUsed(except slot: Int) -> Int? {
        idleSlots(except: slot).min { slots[$0].lastUse < slots[$1].lastUse }
    }

    /// The other sequences that are idle and hold tokens.
    package func idleSlots(except slot: Int) -> [Int] {
        slots.indices.filter { $0 != slot && !slots[$0].isBusy && !slots[$0].held.tokens.isEmpty }
    }

    /// The sequences to save before the context is freed, the most recently used first.
    package var unsavedSlots: [Int] {
        guard rules.keepsStates else { return [] }
        return slots.indices
            .filter {
                !slots[$0].isBusy && slots[$0].saved == nil && slots[$0].held.tokens.count >= rules.fewestTokens
            }
            .sorted { slots[$0].lastUse > slots[$1].lastUse }
    }
}
