#if Llama
    import CLlama
    import CLlamaShim
    import HearthBase
    import HearthInference

    /// What a model remembers of several conversations: some in the sequences of its context, the others as saved states.
    final class ConversationMemory {
        /// The maker of the states: the file of weights, and the form in which llama.cpp writes them.
        let maker: String
        private let reach: MemoryReach
        private let shelf: StateShelf
        private let cells: Int
        private let attendsToAll: Bool
        private(set) var table: SlotTable

        /// - Parameters:
        ///   - window: the tokens of one conversation.
        ///   - cells: the tokens of all sequences together.
        ///   - canGoBack: the model can forget the end of what it has read.
        ///   - attendsToAll: a step also computes the attention to the cells of other conversations, and discards it.
        ///   - folder: where states are kept beyond the life of the model.
        ///   - savedBytes: what all of them may take.
        init(
            maker: String, window: Int, cells: Int, sequences: Int, canGoBack: Bool, attendsToAll: Bool = false,
            folder: Path?, savedBytes: UInt64, fileSystem: any FileSystem = LocalFileSystem()
        ) {
            self.attendsToAll = attendsToAll
            self.maker = maker
            self.cells = cells
            shelf = StateShelf(folder: folder, limit: savedBytes, fileSystem: fileSystem)
            reach = canGoBack ? .anywhere : .presentOnly
            table = SlotTable(
                count: sequences,
                rules: SlotTable.Rules(canCopy: sequences > 1 && canGoBack, savedBytes: savedBytes))
            _ = shelf.trim()
            for state in shelf.found(maker: maker, window: window) {
                _ = add(state.written, held(state.tokens), state.bytes, slot: nil)
            }
        }

        /// Where a prompt is computed.
        struct Place {
            let sequence: Int
            let plan: PrefixPlan
        }

        /// Finds a sequence and brings it as close to a prompt as what is remembered allows. Its ledger is then a true
        /// beginning of the prompt, and shorter.
        /// - Parameters:
        ///   - need: the tokens of the context it may come to need.
        ///   - others: the same of those that compute now, all together.
        /// - Returns: `nil` when all sequences compute.
        func begin(_ prompt: Prompt, need: Int, beside others: Int, _ model: LoadedModel) -> Place? {
            // What computes now can be copied from, as far as it has come.
            for slot in table.slots.indices where table.slots[slot].isBusy {
                table.note(slot, holding: held(model.ledger(slot)))
            }
            let tokens = prompt.ledger
            // A saved state that has no room beside the others waits until it has.
            guard
                let choice = table.choose(
                    prompt: tokens, asked: prompt.asked, isTruncated: prompt.isTruncated, room: cells - others)
            else { return nil }
            let slot = choice.slot
            // Read before the other is written, which may push it out.
            let restored = choice.restores.map { (number: $0, reading: shelf.read($0)) }
            if choice.saves { save(model, sequence: slot, slot: nil) }
            // Before anybody makes room of the one that is copied from.
            if let copy = choice.copies { model.copyMemory(copy.slot, to: slot, count: copy.count) }
            if attendsToAll { shelveIdle(beside: slot, model) }
            makeRoom(max(need, restored?.reading.state?.tokens.count ?? 0) + others, beside: slot, model)
            if let restored, !restore(restored.number, restored.reading, in: slot, model) {
                model.clearMemory(slot)
                return Place(sequence: slot, plan: PrefixPlan(held: held([]), prompt: tokens))
            }
            if case .trim(let count) = choice.plan.action {
                model.truncateMemory(slot, to: count)
            } else if choice.plan.reused == 0 {
                model.clearMemory(slot)
            }
            // Whatever the plan was, this is what counts.
            guard model.ledger(slot).count == choice.plan.reused, tokens.starts(with: model.ledger(slot)) else {
                model.clearMemory(slot)
                return Place(sequence: slot, plan: choice.plan.afterRefusal(prompt: tokens))
            }
            let usable = prompt.reusable(choice.plan.reused)
            if usable < choice.plan.reused { model.truncateMemory(slot, to: usable) }
            return Place(sequence: slot, plan: choice.plan)
        }

        /// Puts a saved state back in place of what a sequence holds. One that cannot be is not looked for again.
        private func restore(_ number: Int, _ reading: StateShelf.Reading, in slot: Int, _ model: LoadedModel) -> Bool {
            if let state = reading.state, state.maker == maker, model.restore(state, in: slot) { return true }
            table.forget(number)
            switch reading {
            // The shelf has said so.
            case .unreadable: shelf.leave(number)
            case .gone, .damaged:
                Log.write(.info, "memory", "the saved state of a conversation is gone or damaged")
                shelf.delete(number)
            case .whole:
                Log.write(.warning, "memory", "deleted the state of a conversation that cannot be restored")
                shelf.delete(number)
            }
            return false
        }

        /// A sequence is free again, and holds what its ledger says.
        func end(_ sequence: Int, _ model: LoadedModel) {
            table.release(sequence, holding: held(model.ledger(sequence)))
        }

        /// Empties sequences that nobody computes in, the least recently used first, until so many tokens fit beside the others.
        private func makeRoom(_ tokens: Int, beside slot: Int, _ model: LoadedModel) {
            while tokens + table.idleTokens(except: slot) > cells, let idle = table.leastRecentlyUsed(except: slot) {
                if table.unsavedSlots.contains(idle) { save(model, sequence: idle, slot: nil) }
                model.clearMemory(idle)
                table.release(idle, holding: held([]))
            }
        }

        /// Moves idle conversations out of the context to states in memory, from where they come back in some milliseconds. A file
        /// takes longer, so with a folder they stay.
        private func shelveIdle(beside slot: Int, _ model: LoadedModel) {
            guard !shelf.outlivesTheModel else { return }
            for idle in table.idleSlots(except: slot) {
                if table.unsavedSlots.contains(idle) { save(model, sequence: idle, slot: idle) }
                guard table.slots[idle].saved != nil else { continue }
                model.clearMemory(idle)
                table.release(idle, holding: held([]))
            }
        }

        /// Writes down what only the context holds, before it goes: the one used last as the last, since files go by their dates.
        func saveAll(_ model: LoadedModel) {
            guard shelf.outlivesTheModel else { return }
            for slot in table.unsavedSlots.reversed() { save(model, sequence: slot, slot: slot) }
        }

        /// Bounds what states may take in memory, in bytes; those used longest ago go first. Files stay as they are.
        /// - Returns: whether one had to go.
        func keep(atMost bytes: UInt64) -> Bool {
            guard !shelf.outlivesTheModel else { return false }
            shelf.limit = bytes
            let gone = table.limitSaved(to: bytes)
            for state in gone { shelf.delete(state) }
            return !gone.isEmpty
        }

        private func save(_ model: LoadedModel, sequence: Int, slot: Int?) {
            guard let state = model.savedState(sequence, maker: maker, limit: shelf.limit),
                let written = shelf.write(state)
            else { return }
            let number = add(written.place, held(state.tokens), written.bytes, slot: slot)
            for gone in shelf.trim(sparing: number) { table.forget(gone) }
        }

        private func add(_ written: StateShelf.Written, _ held: HeldPrefix, _ bytes: UInt64, slot: Int?) -> Int {
            let saved = table.didSave(held, bytes: bytes, slot: slot)
            shelf.keep(written, as: saved.state)
            for old in saved.deletes { shelf.delete(old) }
            return saved.state
        }

        private func held(_ tokens: [TokenID]) -> HeldPrefix { HeldPrefix(tokens: tokens, reach: reach) }
    }

    extension StateShelf.Reading {
        fileprivate var state: StateFile? {
            if case .whole(let state) = self { state } else { nil }
        }
    }

    extension LoadedModel {
        /// A copy of what a sequence holds (`llama_state_seq_get_data`); `nil` when it holds nothing, or more than so many bytes.
        func savedState(_ sequence: Int, maker: String, limit: UInt64) -> StateFile? {
            let id = llama_seq_id(sequence)
            let size = llama_state_seq_get_size(context.raw, id)
            guard size > 0, size <= limit, !ledger(sequence).isEmpty else { return nil }
            let state = [UInt8](unsafeUninitializedCapacity: size) { buffer, count in
                count = llama_state_seq_get_data(context.raw, buffer.baseAddress, buffer.count, id)
            }
            return state.isEmpty ? nil : StateFile(maker: maker, tokens: ledger(sequence), state: state)
        }

        /// Puts a copy back in place of what a sequence holds (`llama_state_seq_set_data`).
        /// - Returns: `false` when llama.cpp refuses it; nothing is remembered then.
        func restore(_ saved: StateFile, in sequence: Int) -> Bool {
            clearMemory(sequence)
            guard saved.tokens.count < information.contextLength else { return false }
            let read = saved.state.withUnsafeBufferPointer {
                llama_state_seq_set_data(context.raw, $0.baseAddress, $0.count, llama_seq_id(sequence))
            }
            guard read > 0, context.holds(saved.tokens.count, in: sequence) else {
                clearMemory(sequence)
                return false
            }
            didReplace(sequence, by: saved.tokens)
            return true
        }

        /// Gives a sequence the first `count` tokens of another in place of what it holds.
        func copyMemory(_ source: Int, to target: Int, count: Int) {
            clearMemory(target)
            context.copy(source, to: target, count: count)
            didReplace(target, by: Array(ledger(source).prefix(count)))
        }
    }
#endif
