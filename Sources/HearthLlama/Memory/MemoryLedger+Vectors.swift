#if Llama
    import HearthInference

    /// The contexts for vectors.
    extension MemoryLedger {
        /// What is taken beside a model's context for vectors, which decides how long that can be.
        struct Taken: Sendable, Hashable {
            var hostBytes: UInt64
            var gpuBytes: UInt64

            /// Whether there is more than before in one place, and no less in the other: a card without room for the context
            /// shows only once the one there is has gone.
            func leavesMore(than before: Taken) -> Bool {
                self != before && hostBytes <= before.hostBytes && gpuBytes <= before.gpuBytes
            }
        }

        /// How a context for vectors is made of a role's model, in place of the one there is; `nil` where its sizes are not known.
        /// - Throws: `model-does-not-fit`, with both numbers.
        func embedding(_ wanted: EmbeddingWindow, of role: EngineRole) throws(LLMError) -> EmbeddingPlan? {
            guard let entry = entries[role], let plan = entry.plan else { return nil }
            return try plan.embedding(wanted, gpu: entry.gpu, on: withoutEmbedding(of: role).room(for: role))
        }

        /// Counts a context for vectors of a role's model as one with this window.
        mutating func count(_ window: EmbeddingWindow, of role: EngineRole) {
            guard var entry = entries[role] else { return }
            entry.embedding = entry.plan?.embedding(of: window, gpu: entry.gpu)
            entry.embeddedBeside = takenBesideEmbedding(of: role)
            entries[role] = entry
        }

        /// Whether a context for vectors that was made shorter than wanted can be made anew with a larger window. That is planned once
        /// each time others leave more of the memory than they did, and not while a model is on its way: which part of a card that is
        /// going to have nobody knows.
        mutating func outgrows(_ made: EmbeddingWindow, wanted: EmbeddingWindow, of role: EngineRole) -> Bool {
            guard wanted.isLarger(than: made), arrival == nil, let before = entries[role]?.embeddedBeside
            else { return false }
            let taken = takenBesideEmbedding(of: role)
            guard taken.leavesMore(than: before) else { return false }
            entries[role]?.embeddedBeside = taken
            do {
                return (try embedding(wanted, of: role)?.window ?? wanted).isLarger(than: made)
            } catch {
                // The one there is stays, although it would be refused now.
                return false
            }
        }

        private func takenBesideEmbedding(of role: EngineRole) -> Taken {
            let others = withoutEmbedding(of: role)
            return Taken(
                hostBytes: others.hostBytes(beside: role), gpuBytes: others.gpuBytes(of: EngineRole.allCases))
        }

        private func withoutEmbedding(of role: EngineRole) -> MemoryLedger {
            var others = self
            others.entries[role]?.embedding = nil
            return others
        }
    }
#endif
