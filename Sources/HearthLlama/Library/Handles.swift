#if Llama
    import HearthBase

    /// Counts the objects of llama.cpp in this process, by kind. Each owner of a handle counts it here, so that a long run can show that
    /// all are freed.
    enum Handles {
        enum Kind: String, CaseIterable {
            case weights, template, context, threads, batch, sampler, projector, bitmap, pieces, calls
        }

        private static let counts = Locked<[Kind: Int]>([:])

        /// How many there are of each kind that has any.
        static var held: [Kind: Int] { counts.withLock { $0.filter { $0.value != 0 } } }

        static func take(_ kind: Kind) { counts.withLock { $0[kind, default: 0] += 1 } }

        static func give(_ kind: Kind) { counts.withLock { $0[kind, default: 0] -= 1 } }
    }
#endif
