/// Decides the tokens of the next call of an engine that computes several sequences together.
///
/// Every answering sequence gets its next token first, so that no answer waits longer than one call for another
/// request's prompt. The rest of the call goes to prompts, one after the other and not in equal shares, because a
/// partly computed prompt answers no request. Three quarters go to the prompts with the fewest tokens left, so that a
/// short prompt never waits for a long one. A quarter goes to the prompt that came first, so that many short prompts
/// cannot delay a long one without end.
package struct BatchPlan: Sendable, Hashable {
    /// The tokens that one sequence waits for.
    package struct Want: Sendable, Hashable {
        /// The number of waiting tokens: the rest of a prompt, or the next tokens of an answer.
        package var tokens: Int
        /// Whether the answer has begun.
        package var isAnswering: Bool

        /// Makes a want; with 0 tokens it gets none.
        package init(tokens: Int, isAnswering: Bool) {
            self.tokens = max(0, tokens)
            self.isAnswering = isAnswering
        }
    }

    /// The limits of a call.
    package struct Limits: Sendable, Hashable {
        /// The most tokens of a call.
        package var capacity: Int
        /// The most prompt tokens of a call while other requests wait for it.
        package var besideOthers: Int
        /// Whether requests outside the call wait for it, such as another model's answers.
        package var isBesideOthers: Bool

        /// Makes limits, each 1 at least; by default 256 prompt tokens beside others.
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
    /// - Parameter wants: the sequences in the order of their requests; of two with equal claims the earlier goes
    ///   first.
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
        // Rounded so that a single token goes to the request that came first.
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
