#if Llama
    import CLlama
    import CLlamaShim
    import HearthBase
    import HearthInference

    /// What a model remembers of several conversations: one in its context, the others as saved states.
    ///
    /// One sequence of the context, and not one for each conversation, so that the one that is answered reads no other's
    /// cells: a change of conversation costs a copy of a few milliseconds, and an answer costs what it would cost alone.
    final class ConversationMemory {
        /// The maker of the states: the file of weights, and the form in which llama.cpp writes them.
        let maker: String
        private let reach: MemoryReach
        private let shelf: StateShelf
        private(set) var table: SlotTable

        /// - Parameters:
        ///   - window: the tokens of the context.
        ///   - canGoBack: the model can forget the end of what it has read.
        init(maker: String, window: Int, canGoBack: Bool, shelf: StateShelf, savedBytes: UInt64) {
            self.maker = maker
            self.shelf = shelf
            reach = canGoBack ? .anywhere : .presentOnly
            table = SlotTable(
                count: 1, rules: SlotTable.Rules(canCopy: false, canSave: savedBytes > 0, savedBytes: savedBytes))
            for state in shelf.found(maker: maker, window: window) {
                add(state.written, HeldPrefix(tokens: state.tokens, maker: maker, reach: reach), state.bytes, slot: nil)
            }
        }

        /// Brings the context as close to a prompt as what is remembered allows. The model's ledger is then a true beginning of
        /// the prompt, and shorter.
        func begin(_ prompt: [TokenID], isTruncated: Bool, _ model: LoadedModel) -> PrefixPlan {
            guard let choice = table.choose(prompt: prompt, maker: maker, isTruncated: isTruncated) else {
                model.clearMemory()
                return PrefixPlan(held: held([]), prompt: prompt, maker: maker)
            }
            // Read before the other is written, which may push it out.
            let restored = choice.restores.map { (number: $0, state: shelf.read($0)) }
            if choice.saves { save(model, slot: nil) }
            if let restored {
                guard let state = restored.state, state.maker == maker, model.restore(state) else {
                    table.forget(restored.number)
                    shelf.delete(restored.number)
                    model.clearMemory()
                    return PrefixPlan(held: held([]), prompt: prompt, maker: maker)
                }
            }
            if case .trim(let count) = choice.plan.action {
                model.truncateMemory(to: count)
            } else if choice.plan.reused == 0 {
                model.clearMemory()
            }
            // Whatever the plan was, this is what counts.
            guard model.ledger.count == choice.plan.reused, prompt.starts(with: model.ledger) else {
                model.clearMemory()
                return choice.plan.afterRefusal(prompt: prompt)
            }
            return choice.plan
        }

        /// The context is free again, and holds what the ledger says.
        func end(_ model: LoadedModel) { table.release(0, holding: held(model.ledger)) }

        /// Writes down what only the context holds, before it goes.
        func saveAll(_ model: LoadedModel) {
            guard shelf.outlivesTheModel else { return }
            for slot in table.unsavedSlots { save(model, slot: slot) }
        }

        private func save(_ model: LoadedModel, slot: Int?) {
            guard let state = model.savedState(maker: maker), let written = shelf.write(state) else { return }
            add(written.place, held(state.tokens), written.bytes, slot: slot)
        }

        private func add(_ written: StateShelf.Written, _ held: HeldPrefix, _ bytes: UInt64, slot: Int?) {
            let saved = table.didSave(held, bytes: bytes, slot: slot)
            shelf.keep(written, as: saved.state)
            for old in saved.deletes { shelf.delete(old) }
        }

        private func held(_ tokens: [TokenID]) -> HeldPrefix { HeldPrefix(tokens: tokens, maker: maker, reach: reach) }
    }

    extension LoadedModel {
        /// A copy of what the context holds (`llama_state_seq_get_data`); `nil` when there is no memory for it.
        func savedState(maker: String) -> StateFile? {
            let size = llama_state_seq_get_size(context.raw, 0)
            guard size > 0, !ledger.isEmpty else { return nil }
            let state = [UInt8](unsafeUninitializedCapacity: size) { buffer, count in
                count = llama_state_seq_get_data(context.raw, buffer.baseAddress, buffer.count, 0)
            }
            return state.isEmpty ? nil : StateFile(maker: maker, tokens: ledger, state: state)
        }

        /// Puts a copy back in place of what the context holds (`llama_state_seq_set_data`).
        /// - Returns: `false` when llama.cpp refuses it; nothing is remembered then.
        func restore(_ saved: StateFile) -> Bool {
            clearMemory()
            guard saved.tokens.count < information.contextLength else { return false }
            let read = saved.state.withUnsafeBufferPointer {
                llama_state_seq_set_data(context.raw, $0.baseAddress, $0.count, 0)
            }
            guard read > 0, context.holds(saved.tokens.count) else {
                clearMemory()
                return false
            }
            ledger = saved.tokens
            return true
        }
    }
#endif
