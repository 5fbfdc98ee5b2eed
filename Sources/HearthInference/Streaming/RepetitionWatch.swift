/// Finds the end of an answer that repeats one sequence of tokens.
///
/// For each length of a sequence it counts how many of the last tokens equal the token that stands this length before
/// them. A token costs one pass over these counts: less than a microsecond for 256 lengths.
package struct RepetitionWatch: Sendable {
    /// The longest sequence.
    private let longest: Int
    /// The newest tokens, the newest first, from ``head`` on.
    private var recent: [TokenID]
    private var head: Int
    private var seen = 0
    /// By the length of a sequence: the matching tokens at the end, and the number of them that ends the answer.
    private var matches: [Int32]
    private let needs: [Int32]

    /// Watches an answer of at most `maximumTokens` tokens; `nil` if no sequence can repeat often enough in it.
    package init?(_ rule: RepetitionRule?, maximumTokens: Int) {
        guard let rule else { return nil }
        let count = max(2, rule.count)
        let (shortest, longest) = (
            max(1, rule.shortest), min(rule.longest, maximumTokens / count, RepetitionRule.limit)
        )
        guard shortest <= longest, rule.tokens <= maximumTokens else { return nil }
        self.longest = longest
        recent = Array(repeating: 0, count: 4 * (longest + 1))
        head = recent.count
        matches = Array(repeating: 0, count: longest + 1)
        needs = (0...longest).map { length in
            guard length >= shortest else { return .max }
            // The first of the repeats matches nothing.
            return Int32(clamping: max(length * count, rule.tokens) - length)
        }
    }

    /// Takes the next token of the answer.
    /// - Returns: whether the answer ends in enough repeats.
    package mutating func take(_ token: TokenID) -> Bool {
        if head == 0 {
            // The newest tokens move to the end of the buffer, which makes room for the next ones.
            head = recent.count - longest
            for index in 0..<longest { recent[head + index] = recent[index] }
        }
        head -= 1
        recent[head] = token
        let known = min(seen, longest)
        seen += 1
        guard known > 0 else { return false }
        var found: Int32 = 0
        recent.withUnsafeBufferPointer { recent in
            needs.withUnsafeBufferPointer { needs in
                matches.withUnsafeMutableBufferPointer { matches in
                    for length in 1...known {
                        let count = recent[head + length] == token ? matches[length] &+ 1 : 0
                        matches[length] = count
                        found |= count >= needs[length] ? 1 : 0
                    }
                }
            }
        }
        return found != 0
    }

    /// Forgets the tokens so far, such as those that a grammar chose.
    package mutating func reset() {
        guard seen > 0 else { return }
        (head, seen) = (recent.count, 0)
        for length in matches.indices { matches[length] = 0 }
    }
}
