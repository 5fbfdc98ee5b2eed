/// Decides the tokens of the next call of an engine that computes several sequences together.
///
/// Every sequence that answers gets its next token first, so that no answer waits for another request's prompt longer than one call.
/// The room that the call has left goes to prompts, one after the other rather than in equal shares: a prompt of which a part is
/// read answers no request. Three quarters go to those of which least is left, so that a short one never waits for a long one; a
/// quarter goes to the one that came first, so that no prompt waits for ever however many short ones come.
package struct BatchPlan: Sendable, Hashable {
    /// The request of one sequence.
    package struct Want: Sendable, Hashable {
        /// Its waiting tokens: the rest of a prompt, or the next ones of its answer.
        package var tokens: Int
        /// Its answer has begun, and its caller reads it.
        package var isAnswering: Bool

        /// The given request; 0 tokens ask for nothing.
        package init(tokens: Int, isAnswering: Bool) {
            self.tokens = max(0, tokens)
            self.isAnswering = isAnswering
        }
    }

    /// The limits of a call.
    package struct Limits: Sendable, Hashable {
        /// The most tokens of a call.
        package var capacity: Int
        /// The most tokens of prompts in a call that other requests wait for.
        package var besideOthers: Int
        /// Whether requests outside the call wait for it, such as another model's answers.
        package var isBesideOthers: Bool

        /// The given limits, 1 at least; 256 tokens beside others unless said otherwise.
        package init(capacity: Int, besideOthers: Int = 256, isBesideOthers: Bool = false) {
            self.capacity = max(1, capacity)
            self.besideOthers = max(1, besideOthers)
            self.isBesideOthers = isBesideOthers
        }
    }

    /// The tokens to compute of each want, in the same order.
    package let shares: [Int]

    /// All tokens of the call.
    package var total: Int { shares.reduce(0, +) }

    /// Plans one call. O(n log n).
    /// - Parameter wants: in the order in which they came, so that at equal places the earlier goes first.
    package init(_ wants: [Want], limits: Limits) {
        var shares = [Int](repeating: 0, count: wants.count)
        var room = limits.capacity
        for (index, want) in wants.enumerated() where want.isAnswering && want.tokens > 0 && room > 0 {
            shares[index] = 1
            room -= 1
        }
        func left(_ index: Int) -> Int { wants[index].tokens - shares[index] }
        let oldest = wants.indices.filter { left($0) > 0 }
        if limits.isBesideOthers || shares.contains(1) || oldest.count > 1 { room = min(room, limits.besideOthers) }
        let shortest = oldest.sorted { (left($0), $0) < (left($1), $1) }
        // Rounded so that of a single token the one that came first gets it.
        let begun = room * 3 / 4
        for (part, order) in [(begun, shortest), (room - begun, oldest)] {
            var part = part
            for index in order where part > 0 {
                let share = min(part, left(index))
                shares[index] += share
                part -= share
            }
        }
        self.shares = shares
    }
}
