#if Llama
    import CLlama
    import HearthBase
    import HearthInference

    /// The computed conversations of a model: some in the sequences of its context, the others as saved states.
    final class ConversationMemory {
        /// The maker of the states: the file of weights, and the form in which llama.cpp writes them.
        let maker: String
        private let reach: MemoryReach
        private let states: StateCache
        private let sequences: Sequences
        private let attendsToAll: Bool
        private(set) var table: SlotTable

        /// - Parameters:
        ///   - canGoBack: the model can forget the end of what it has read.
        ///   - attendsToAll: a step also computes the attention to the cells of other conversations, and discards it.
        ///   - states: where the states of conversations are kept that have no place in the context.
        init(
            _ sequences: Sequences, maker: String, canGoBack: Bool, attendsToAll: Bool = false, states: StateCache
        ) {
            self.sequences = sequences
            self.maker = maker
            self.attendsToAll = attendsToAll
            self.states = states
            reach = canGoBack ? .anywhere : .presentOnly
            let count = sequences.context.sequences
            table = SlotTable(
                count: count, rules: SlotTable.Rules(canCopy: count > 1 && canGoBack, savedBytes: states.limit))
            _ = states.trim()
            for state in states.found(maker: maker, window: sequences.context.length) {
                add(state.place, held(state.tokens), state.bytes, slot: nil)
            }
        }

        /// The sequence in which a prompt is computed.
        struct Place {
            let sequence: Int
            let plan: PrefixPlan
        }

        /// What became of a prompt that asks for a sequence.
        enum Outcome {
            case begun(Place)
            /// All sequences compute.
            case noSequence
            /// A saved state is read from its file first; `onRead` of ``begin(_:need:beside:onRead:)`` tells its end.
            case readsState
        }

        /// Finds a sequence and brings it as close to a prompt as the saved conversations allow. Its ledger is then a true
        /// beginning of the prompt, and shorter.
        /// - Parameters:
        ///   - need: the tokens of the context it may come to need.
        ///   - others: the same of those that compute now, all together.
        ///   - onRead: called on another thread, once a state is read that the prompt waits for.
        func begin(
            _ prompt: Prompt, need: Int, beside others: Int, onRead: @escaping @Sendable () -> Void = {}
        ) -> Outcome {
            for gone in states.takeLost() { table.forget(gone) }
            // What computes now can be copied from, as far as it has come.
            for slot in table.slots.indices where table.slots[slot].isBusy {
                table.note(slot, holding: held(sequences.ledger(slot)))
            }
            let tokens = prompt.ledger
            var chosen = table
            // A saved state that has no room beside the others waits until it has.
            guard
                let choice = chosen.choose(
                    prompt: tokens, asked: prompt.asked, isTruncated: prompt.isTruncated, room: cells - others)
            else { return .noSequence }
            var restored: (number: Int, reading: StateCache.Reading)?
            if let number = choice.restores {
                guard let reading = states.read(number, onRead: onRead) else { return .readsState }
                restored = (number, reading)
            }
            table = chosen
            let slot = choice.slot
            if choice.saves { save(slot, as: nil) }
            // Copied before room is made, which may empty the source.
            if let copy = choice.copies { sequences.copy(copy.slot, to: slot, count: copy.count) }
            if attendsToAll { saveIdle(except: slot) }
            makeRoom(max(need, restored?.reading.state?.tokens.count ?? 0) + others, except: slot)
            if let restored, !restore(restored.number, restored.reading, in: slot) {
                sequences.clear(slot)
                return .begun(Place(sequence: slot, plan: PrefixPlan(held: held([]), prompt: tokens)))
            }
            if case .trim(let count) = choice.plan.action {
                sequences.truncate(slot, to: count)
            } else if choice.plan.reused == 0 {
                sequences.clear(slot)
            }
            // Whatever the plan was, the ledger decides.
            guard sequences.ledger(slot).count == choice.plan.reused, tokens.starts(with: sequences.ledger(slot))
            else {
                sequences.clear(slot)
                return .begun(Place(sequence: slot, plan: choice.plan.afterRefusal(prompt: tokens)))
            }
            let usable = prompt.reusable(choice.plan.reused)
            if usable < choice.plan.reused { sequences.truncate(slot, to: usable) }
            return .begun(Place(sequence: slot, plan: choice.plan))
        }

        private var cells: Int { sequences.context.cells }

        /// Replaces what a sequence holds by a saved state. One that cannot be restored is forgotten.
        private func restore(_ number: Int, _ reading: StateCache.Reading, in slot: Int) -> Bool {
            if let state = reading.state, state.maker == maker, sequences.restore(state.tokens, state.state, in: slot) {
                return true
            }
            table.forget(number)
            switch reading {
            // The reason is in the log already.
            case .unreadable: states.leave(number)
            case .gone, .damaged:
                Log.write(.info, "memory", "the saved state of a conversation is gone or damaged")
                states.delete(number)
            case .whole:
                Log.write(.warning, "memory", "deleted the state of a conversation that cannot be restored")
                states.delete(number)
            }
            return false
        }

        /// Frees a sequence, which holds what its ledger says.
        func end(_ sequence: Int) { table.release(sequence, holding: held(sequences.ledger(sequence))) }

        /// Empties idle sequences, the least recently used first, until so many tokens fit beside the others.
        private func makeRoom(_ tokens: Int, except slot: Int) {
            while tokens + table.idleTokens(except: slot) > cells, let idle = table.leastRecentlyUsed(except: slot) {
                if table.unsavedSlots.contains(idle) { save(idle, as: nil) }
                empty(idle)
            }
        }

        /// Moves idle conversations out of the context to states in memory, from where they come back in some milliseconds. A file
        /// takes longer, so with a folder they stay.
        private func saveIdle(except slot: Int) {
            guard !states.outlivesTheModel else { return }
            for idle in table.idleSlots(except: slot) {
                if table.unsavedSlots.contains(idle) { save(idle, as: idle) }
                if table.slots[idle].saved != nil { empty(idle) }
            }
        }

        private func empty(_ slot: Int) {
            sequences.clear(slot)
            table.release(slot, holding: held([]))
        }

        /// Writes what only the context holds to the folder, if there is one, and waits for the files: the one used last as the last, since
        /// files go by their dates. Called when the model leaves, outside the engine's thread.
        func saveAll() {
            guard states.outlivesTheModel else { return }
            for slot in table.unsavedSlots.reversed() {
                states.settle()
                save(slot, as: slot)
            }
            states.settle()
        }

        /// Bounds the bytes of states in memory; those used longest ago go first. Files stay as they are.
        /// - Returns: whether one was dropped.
        func keep(atMost bytes: UInt64) -> Bool {
            guard !states.outlivesTheModel else { return false }
            states.limit = bytes
            let gone = table.limitSaved(to: bytes)
            for state in gone { states.delete(state) }
            return !gone.isEmpty
        }

        private func save(_ sequence: Int, as slot: Int?) {
            guard let (tokens, bytes) = sequences.state(of: sequence, limit: states.limit) else { return }
            let state = StateFile(maker: maker, tokens: tokens, state: bytes)
            guard let place = states.place(for: state) else { return }
            add(place, held(tokens), state.byteCount, slot: slot)
        }

        private func add(_ place: StateCache.Place, _ held: HeldPrefix, _ bytes: UInt64, slot: Int?) {
            let saved = table.didSave(held, bytes: bytes, slot: slot)
            states.keep(place, as: saved.state)
            for old in saved.deletes { states.delete(old) }
        }

        private func held(_ tokens: [TokenID]) -> HeldPrefix { HeldPrefix(tokens: tokens, reach: reach) }
    }

    extension StateCache.Reading {
        fileprivate var state: StateFile? {
            if case .whole(let state) = self { state } else { nil }
        }
    }
#endif
