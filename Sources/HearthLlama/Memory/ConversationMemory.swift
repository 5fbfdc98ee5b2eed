#if Llama
import HearthBase
import HearthInference

/// The computed conversations of a model: some in the sequences of its context, the others as saved states.
final class ConversationMemory {
    /// Identifies the states that fit: by the file of weights and llama.cpp's format.
    let maker: String
    let reach: MemoryReach
    /// The tokens of one saved part of a conversation; `nil` where each is saved as a whole.
    let unit: Int?
    let states: StateCache
    /// The states of the app's instructions in a folder of this model's own.
    private let instructions: StateCache?
    /// The numbers of the states in ``instructions``.
    private var shared: Set<Int> = []
    let sequences: Sequences
    var table: SlotTable

    /// Makes the memory of a model's conversations.
    /// - Parameters:
    ///   - canGoBack: whether the model can forget the end of a sequence.
    ///   - states: the states of conversations that have no place in the context.
    ///   - instructions: the states of the app's instructions; `nil` keeps none.
    ///   - unit: the tokens of one saved part of a conversation, where sequences share their cells.
    init(
        _ sequences: Sequences, maker: String, canGoBack: Bool, states: StateCache, instructions: StateCache? = nil,
        unit: Int = ConversationMemory.unit
    ) {
        self.sequences = sequences
        self.states = states
        self.instructions = instructions
        reach = canGoBack ? .anywhere : .presentOnly
        self.unit = canGoBack && sequences.context.spare != nil ? unit : nil
        // Whole conversations and parts of them replace each other differently: neither takes the other's for its own.
        self.maker = self.unit == nil ? maker : maker + " parts"
        let count = sequences.context.sequences
        table = SlotTable(
            count: count,
            rules: SlotTable.Rules(
                canCopy: count > 1 && canGoBack,
                copiedForOneComputed: sequences.context.hasOwnCells ? Self.copiedForOneComputed : nil,
                savedBytes: states.limit))
        _ = states.trim()
        addFound()
        guard let instructions else { return }
        _ = instructions.trim()
        for state in instructions.found(maker: self.maker, window: sequences.context.length) {
            share(state.place, held(state.tokens), in: instructions)
        }
    }

    /// The tokens of one saved part of a conversation. An agent's instructions have some twenty of them, and what two
    /// conversations have in common beyond the last whole one is saved twice.
    static let unit = 512

    /// Two hundred with a model of 135 million weights on two cores. Larger models compute more for the same state.
    private static let copiedForOneComputed = 128

    /// The sequence in which a prompt is computed.
    struct Place {
        let sequence: Int
        let plan: PrefixPlan
    }

    /// The result for a prompt that needs a sequence.
    enum Outcome {
        case begun(Place)
        /// All sequences are computing.
        case noSequence
        /// A saved state is being read from its file; `onRead` of ``begin(_:need:beside:onRead:)`` is called after
        /// it.
        case readsState
    }

    /// The computed tokens of a running generation that a prompt would get as a copy; `nil` if there are none.
    /// - Parameter others: the most tokens of the context that the running generations can use.
    func sharing(_ prompt: Prompt, beside others: Int) -> (sequence: Int, count: Int)? {
        guard prompt.reusesTokens else { return nil }
        noteRunning()
        var chosen = table
        let choice = chosen.choose(
            prompt: prompt.ledger, asked: prompt.asked, isTruncated: prompt.isTruncated, room: cells - others)
        guard let copy = choice?.copies, table.slots[copy.slot].isBusy else { return nil }
        return (copy.slot, prompt.reusable(copy.count))
    }

    /// Records the computed tokens of running generations, which can be copied.
    private func noteRunning() {
        for slot in table.slots.indices where table.slots[slot].isBusy {
            table.note(slot, holding: held(sequences.ledger(slot)))
        }
    }

    /// Finds a sequence for a prompt and fills it from the saved conversations as far as they match. Its ledger is
    /// then a beginning of the prompt, and shorter than it.
    /// - Parameters:
    ///   - need: the most tokens of the context that the prompt and its answer can use.
    ///   - others: the same number for all running generations together.
    ///   - onRead: called on another thread after a state that the prompt waits for is read.
    func begin(
        _ prompt: Prompt, need: Int, beside others: Int, onRead: @escaping @Sendable () -> Void = {}
    ) -> Outcome {
        for lost in states.takeLost() + (instructions?.takeLost() ?? []) {
            for gone in forget(lost) where gone != lost { states.delete(gone) }
        }
        noteRunning()
        let tokens = prompt.ledger
        var chosen = table
        // A saved state waits until there is room for it beside the running generations.
        guard
            let choice = chosen.choose(
                prompt: tokens, asked: prompt.asked, isTruncated: prompt.isTruncated, room: cells - others)
        else { return .noSequence }
        guard prompt.reusesTokens else {
            table = chosen
            // An empty context gives the same cells, and so the same rounding, each time.
            if others == 0 { saveAndEmptyIdle(except: choice.slot) }
            sequences.clear(choice.slot)
            makeRoom(need + others, except: choice.slot)
            if others == 0 { sequences.context.clear() }
            return .begun(Place(sequence: choice.slot, plan: PrefixPlan(held: held([]), prompt: tokens)))
        }
        var restored: Restored?
        if let number = choice.restores {
            restored = Restored(table.path(to: number), source: source(of: table.tokens(of: number)))
            let (cache, numbers) = (cache(of: number), restored?.states.map(\.state) ?? [])
            // A conversation of which nothing is kept does not date the file either.
            let isDated = cache === states || prompt.ownCount > 0
            guard let readings = cache.read(numbers, isDated: isDated, onRead: onRead) else { return .readsState }
            restored?.readings = readings
        }
        table = chosen
        let slot = choice.slot
        if choice.saves { save(slot, as: nil) }
        // Tokens are copied first, because making room may empty their source; what is not used is forgotten first, because
        // it would count as room that the prompt has.
        if let restored {
            fill(slot, from: restored)
        } else {
            if let copy = choice.copies { sequences.copy(copy.slot, to: slot, count: copy.count) }
            cut(slot, choice.plan)
        }
        saveIdle(except: slot)
        makeRoom(max(need, restored?.end ?? 0) + others, except: slot)
        if let restored {
            guard restore(restored, in: slot) else {
                // The parts before the one that is gone are of use.
                let plan = PrefixPlan(held: held(sequences.ledger(slot)), prompt: tokens)
                sequences.truncate(slot, to: prompt.reusable(plan.reused))
                return .begun(Place(sequence: slot, plan: plan))
            }
            cut(slot, choice.plan)
        }
        // The ledger is checked against the plan.
        guard sequences.ledger(slot).count == choice.plan.reused, tokens.starts(with: sequences.ledger(slot))
        else {
            sequences.clear(slot)
            return .begun(Place(sequence: slot, plan: choice.plan.afterRefusal(prompt: tokens)))
        }
        let usable = prompt.reusable(choice.plan.reused)
        if usable < choice.plan.reused { sequences.truncate(slot, to: usable) }
        return .begun(Place(sequence: slot, plan: choice.plan))
    }

    /// Forgets the tokens of a sequence that a prompt does not use.
    private func cut(_ slot: Int, _ plan: PrefixPlan) {
        if case .trim(let count) = plan.action {
            sequences.truncate(slot, to: count)
        } else if plan.reused == 0 {
            sequences.clear(slot)
        }
    }

    private var cells: Int { sequences.context.cells }

    func cache(of number: Int) -> StateCache {
        if let instructions, shared.contains(number) { return instructions }
        return states
    }

    /// Forgets a state and those that continue it.
    @discardableResult
    func forget(_ number: Int) -> [Int] {
        shared.remove(number)
        return table.forget(number)
    }

    /// Frees a sequence, which keeps the tokens in its ledger.
    func end(_ sequence: Int) { table.release(sequence, holding: held(sequences.ledger(sequence))) }

    /// Empties idle sequences, the least recently used first, until `tokens` more fit beside the others.
    private func makeRoom(_ tokens: Int, except slot: Int) {
        while tokens + idleCells(except: slot) > cells, let idle = table.leastRecentlyUsed(except: slot) {
            if table.unsavedSlots.contains(idle) { save(idle, as: nil) }
            empty(idle)
        }
    }

    /// The cells of idle sequences that neither `slot` nor a computing sequence shares.
    private func idleCells(except slot: Int) -> Int {
        let idle = table.idleSlots(except: slot)
        return sequences.cellCount(of: idle, beside: table.slots.indices.filter { !idle.contains($0) })
    }

    /// Moves idle conversations from shared cells to states in memory, which can be restored in some milliseconds: each
    /// step passes over all shared cells. A file takes longer to read, so with a folder the conversations stay in the
    /// context.
    private func saveIdle(except slot: Int) {
        guard !states.outlivesTheModel, !sequences.context.hasOwnCells else { return }
        for idle in table.idleSlots(except: slot) {
            if table.unsavedSlots.contains(idle) { save(idle, as: idle) }
            if table.slots[idle].saved != nil { empty(idle) }
        }
    }

    /// Empties all idle sequences; those that are not saved are saved as far as there is room for states.
    private func saveAndEmptyIdle(except slot: Int) {
        for idle in table.idleSlots(except: slot) {
            if table.unsavedSlots.contains(idle) { save(idle, as: nil) }
            empty(idle)
        }
    }

    /// Empties all idle sequences, and drops the conversations that are saved in memory.
    func forgetIdle() {
        for slot in table.slots.indices where !table.slots[slot].isBusy { empty(slot) }
        guard !states.outlivesTheModel else { return }
        for state in table.savedStates.subtracting(shared) {
            for gone in table.forget(state) { states.delete(gone) }
        }
    }

    private func empty(_ slot: Int) {
        sequences.clear(slot)
        table.release(slot, holding: held([]))
    }

    /// Writes the conversations that only the context holds to the folder, if there is one, and waits for the
    /// files. The most recently used one is written last, because files are ordered by date. Called on another
    /// thread than the engine's when the model is unloaded.
    func saveAll() {
        defer { instructions?.settle() }
        guard states.outlivesTheModel else { return }
        for slot in table.unsavedSlots.reversed() {
            states.settle()
            save(slot, as: slot)
        }
        states.settle()
    }

    /// Limits the bytes of states in memory; the least recently used are dropped first. Files are not deleted.
    /// - Returns: whether one was dropped.
    func keep(atMost bytes: UInt64) -> Bool {
        guard !states.outlivesTheModel else { return false }
        states.limit = bytes
        let gone = table.limitSaved(to: bytes)
        for state in gone { states.delete(state) }
        return !gone.isEmpty
    }

    // MARK: Instructions

    var keepsInstructions: Bool { instructions != nil }

    /// Whether the state of a prompt's instructions is worth keeping, and not kept yet.
    func wantsInstructions(of prompt: Prompt) -> Bool {
        instructions != nil && prompt.ownCount >= table.rules.fewestTokens
            && !table.shares(prompt.ledger.prefix(prompt.ownCount))
    }

    /// Keeps the state of a sequence that holds the instructions of a prompt and no more.
    func keepInstructions(of prompt: Prompt, in sequence: Int) {
        guard let instructions, wantsInstructions(of: prompt),
            sequences.ledger(sequence).elementsEqual(prompt.ledger.prefix(prompt.ownCount)),
            let (tokens, bytes) = sequences.state(of: sequence, limit: instructions.limit),
            let place = instructions.place(for: StateFile(maker: maker, tokens: tokens, state: bytes))
        else { return }
        share(place, held(tokens), in: instructions)
    }

    private func share(_ place: StateCache.Place, _ held: HeldPrefix, in instructions: StateCache) {
        let number = table.didShare(held)
        shared.insert(number)
        instructions.keep(place, as: number)
    }

    func held(_ tokens: [TokenID]) -> HeldPrefix { HeldPrefix(tokens: tokens, reach: reach) }
}
#endif
