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
    /// The tokens that one sequence waits for, the rest of a prompt or the next tokens of an answer, and whether its answer
    /// has begun.
    package typealias Want = (tokens: Int, isAnswering: Bool)

    /// The fewest tokens that ggml computes in tiles (`GGML_FA_TILE_Q`).
    package static let tile = 64

    /// The tokens of each want in the call for answers, in the order of the wants.
    package let answers: [Int]
    /// The tokens of each want in the call for prompts, in the order of the wants.
    package let prompts: [Int]

    /// Plans one step. O(n log n).
    /// - Parameters:
    ///   - wants: the sequences in the order of their requests; of two with equal claims the earlier goes first.
    ///   - capacity: the most tokens of a call.
    ///   - besideOthers: the most prompt tokens of a call for each waiting prompt, while other requests wait for it.
    ///   - isBesideOthers: requests outside the step wait for it, such as another model's answers.
    ///   - turn: the number of earlier steps that computed a prompt.
    package init(_ wants: [Want], capacity: Int, besideOthers: Int, isBesideOthers: Bool, turn: Int) {
        let (capacity, besideOthers) = (max(1, capacity), max(1, besideOthers))
        var answers = [Int](repeating: 0, count: wants.count)
        var room = capacity
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
        let isAlone = !isBesideOthers && waiting.count == 1 && answers.allSatisfy { $0 == 0 }
        let limit =
            isAlone ? capacity : min(capacity, min(besideOthers, capacity) * max(1, waiting.count))
        prompts = Self.prompts(wants, order: order, limit: limit, capacity: capacity)
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
