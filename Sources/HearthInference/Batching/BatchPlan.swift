/// What goes into the next call of an engine that computes several sequences together: a decision only.
///
/// Every sequence that answers gets its next token first, so that no answer waits for anybody's prompt longer than one call.
/// What room the call has left goes to prompts: one half in equal shares, so that a long one stalls no short one, the
/// other half in the order in which they came, so that those that came first are through first.
public struct BatchPlan: Sendable, Hashable {
    /// What one sequence would like computed.
    public struct Want: Sendable, Hashable {
        /// The tokens it has waiting: the rest of a prompt, or what its answer goes on with.
        public var tokens: Int
        /// Somebody reads its answer as it grows.
        public var isAnswering: Bool

        /// The given wish; 0 tokens are no wish.
        public init(tokens: Int, isAnswering: Bool) {
            self.tokens = max(0, tokens)
            self.isAnswering = isAnswering
        }
    }

    /// How long a call may be.
    public struct Limits: Sendable, Hashable {
        /// The most tokens of a call.
        public var capacity: Int
        /// The most tokens of prompts in a call that somebody's answer waits for.
        public var besideAnswers: Int

        /// The given limits, 1 at least; 256 tokens beside answers unless said otherwise.
        public init(capacity: Int, besideAnswers: Int = 256) {
            self.capacity = max(1, capacity)
            self.besideAnswers = max(1, besideAnswers)
        }
    }

    /// The tokens to compute of each want, in the same order.
    public let shares: [Int]

    /// All tokens of the call.
    public var total: Int { shares.reduce(0, +) }

    /// Plans one call. O(n log n).
    /// - Parameter wants: in the order in which they came, so that at equal places the earlier goes first.
    public init(_ wants: [Want], limits: Limits) {
        var shares = [Int](repeating: 0, count: wants.count)
        var room = limits.capacity
        for (index, want) in wants.enumerated() where want.isAnswering && want.tokens > 0 && room > 0 {
            shares[index] = 1
            room -= 1
        }
        let isAnswered = shares.contains(1)
        if isAnswered { room = min(room, limits.besideAnswers) }
        // With few tokens to give away equal shares would be none at all.
        room -= Self.giveEqually(min(room, max(wants.count, room / 2)), wants, &shares)
        for (index, want) in wants.enumerated() where room > 0 {
            let share = min(room, want.tokens - shares[index])
            shares[index] += share
            room -= share
        }
        self.shares = shares
    }

    /// Gives each as much as the others, and what those leave over who want less.
    /// - Returns: the tokens given.
    private static func giveEqually(_ tokens: Int, _ wants: [Want], _ shares: inout [Int]) -> Int {
        let hungry = wants.indices.filter { wants[$0].tokens > shares[$0] }
            .sorted { (wants[$0].tokens - shares[$0], $0) < (wants[$1].tokens - shares[$1], $1) }
        var left = tokens
        for (place, index) in hungry.enumerated() {
            let share = min(wants[index].tokens - shares[index], left / (hungry.count - place))
            shares[index] += share
            left -= share
        }
        return tokens - left
    }
}
