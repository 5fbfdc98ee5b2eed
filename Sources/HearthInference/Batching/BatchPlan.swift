/// Decides the tokens of a step of an engine that computes several sequences: one call for all answers, then one for
/// prompts.
///
/// Every answering sequence gets its next tokens, so that no answer waits longer than one call for another request's
/// prompt. The second call is for one prompt: a partly computed prompt answers no request, and ggml computes a large
/// batch in tiles that compare each token with the cells of every sequence in the batch. Of four steps, three go to the
/// prompt with the fewest tokens left, so that a short prompt never waits for a long one; the fourth goes to the prompt
/// that came first, so that many short prompts cannot delay a long one without end. Further prompts join only where all
/// of them together are too short for tiles.
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

    /// The limits of a step.
    package struct Limits: Sendable, Hashable {
        /// The most tokens of a call.
        package var capacity: Int
        /// The most prompt tokens of a call for each waiting prompt, while other requests wait for it.
        package var besideOthers: Int
        /// Whether requests outside the step wait for it, such as another model's answers.
        package var isBesideOthers: Bool

        /// Makes limits, each 1 at least; by default 256 prompt tokens beside others.
        package init(capacity: Int, besideOthers: Int = 256, isBesideOthers: Bool = false) {
            self.capacity = max(1, capacity)
            self.besideOthers = max(1, besideOthers)
            self.isBesideOthers = isBesideOthers
        }
    }

    /// The fewest tokens that ggml computes in tiles (`GGML_FA_TILE_Q`).
    package static let tile = 64

    /// The tokens of each want in the call for answers, in the order of the wants.
    package let answers: [Int]
    /// The tokens of each want in the call for prompts, in the order of the wants.
    package let prompts: [Int]

    /// Plans one step. O(n log n).
    /// - Parameters:
    ///   - wants: the sequences in the order of their requests; of two with equal claims the earlier goes first.
    ///   - turn: the number of earlier steps that computed a prompt.
    package init(_ wants: [Want], limits: Limits, turn: Int) {
        var answers = [Int](repeating: 0, count: wants.count)
        var room = limits.capacity
        for (index, want) in wants.enumerated() where want.isAnswering {
            answers[index] = min(want.tokens, room)
            room -= answers[index]
        }
        self.answers = answers
        let waiting = wants.indices.filter { !wants[$0].isAnswering && wants[$0].tokens > 0 }
        var order = waiting.sorted { (wants[$0].tokens, $0) < (wants[$1].tokens, $1) }
        if turn % 4 == 3, let oldest = waiting.first {
            order.removeAll { $0 == oldest }
            order.insert(oldest, at: 0)
        }
        let isAlone = !limits.isBesideOthers && waiting.count == 1 && answers.allSatisfy { $0 == 0 }
        let limit =
            isAlone
            ? limits.capacity
            : min(limits.capacity, min(limits.besideOthers, limits.capacity) * max(1, waiting.count))
        prompts = Self.prompts(wants, order: order, limit: limit, capacity: limits.capacity)
    }

    private static func prompts(_ wants: [Want], order: [Int], limit: Int, capacity: Int) -> [Int] {
        var shares = [Int](repeating: 0, count: wants.count)
        guard let first = order.first else { return shares }
        let left = wants[first].tokens
        // A rest too short for tiles would be computed more slowly in a call of its own.
        let isNearlyAll = left - limit < min(limit, tile)
        shares[first] = min(left, isNearlyAll ? capacity : limit)
        var total = shares[first]
        for index in order.dropFirst() where total + wants[index].tokens < min(tile, capacity + 1) {
            shares[index] = wants[index].tokens
            total += shares[index]
        }
        return shares
    }
}
