/// The earlier states that an engine's memory can return to.
package enum MemoryReach: Sendable, Hashable {
    /// Any state: attention keeps every position, also in layers with a sliding window.
    case anywhere
    /// Only the present state: recurrent layers overwrite it.
    case presentOnly

    /// Whether the tokens after the first `count` of `held` can be removed.
    func allows(keeping count: Int, of held: Int) -> Bool {
        switch self {
        case .anywhere: true
        case .presentOnly: count == held || count == 0
        }
    }
}

/// The tokens of one conversation in an engine's memory.
package struct HeldPrefix: Sendable, Hashable {
    /// The exact tokens whose state is in memory, with those of thinking.
    package var tokens: [Int32]
    /// The states that the memory can return to.
    package var reach: MemoryReach

    /// The given facts.
    package init(tokens: [Int32], reach: MemoryReach = .anywhere) {
        self.tokens = tokens
        self.reach = reach
    }
}

/// Compares the exact tokens and decides how to bring the memory to the state before a prompt's last token.
///
/// | held and prompt | action | miss |
/// | --- | --- | --- |
/// | nothing is held | ``Action/prefillAll`` | `cold` |
/// | not even the first token agrees | ``Action/rebuild`` | `other-beginning` |
/// | all held tokens begin the prompt | ``Action/appendSuffix`` | none |
/// | all of the prompt is held | ``Action/trim(to:)`` | `repeated` |
/// | a later token differs | ``Action/trim(to:)`` | `parted`, `truncated` |
/// | one of the last two, in a memory without earlier states | ``Action/rebuild`` | `recurrent` |
/// | the memory refused to remove a part | ``afterRefusal(prompt:)`` | `removal-refused` |
package struct PrefixPlan: Sendable, Hashable {
    /// The change of the memory before the rest of the prompt is computed.
    package enum Action: Sendable, Hashable {
        /// The memory is empty: compute the whole prompt.
        case prefillAll
        /// Compute the tokens after the held ones.
        case appendSuffix
        /// Remove the held tokens after the first `to`.
        case trim(to: Int)
        /// Clear the memory and compute the whole prompt.
        case rebuild
    }

    package let action: Action
    /// The prompt tokens whose state is reused.
    package let reused: Int
    /// The tokens left to compute, at least one unless the prompt is empty.
    package let remaining: Int
    /// The reason of a miss, `nil` when all held tokens were used.
    package let miss: CacheMiss?

    /// Makes a plan. O(length of the common beginning).
    ///
    /// - Parameters:
    ///   - held: the content of the memory.
    ///   - prompt: the tokens of the new prompt.
    ///   - isTruncated: whether the oldest messages are not part of the prompt.
    package init(held: HeldPrefix, prompt: [Int32], isTruncated: Bool = false) {
        let common = Self.commonLength(held.tokens, prompt)
        // The logits of the last prompt token are needed to continue.
        let usable = min(common, max(0, prompt.count - 1))
        let isWhole = common == held.tokens.count && usable == common
        if held.tokens.isEmpty {
            self.init(.prefillAll, 0, prompt, .cold)
        } else if usable == 0 {
            self.init(.rebuild, 0, prompt, common > 0 ? .repeated : .otherBeginning)
        } else if isWhole {
            self.init(.appendSuffix, usable, prompt, nil)
        } else if held.reach.allows(keeping: usable, of: held.tokens.count) {
            let miss: CacheMiss = common == prompt.count ? .repeated : isTruncated ? .truncated : .parted
            self.init(.trim(to: usable), usable, prompt, miss)
        } else {
            self.init(.rebuild, 0, prompt, .recurrent)
        }
    }

    /// The number of a prompt's tokens that held tokens save.
    /// - Parameters:
    ///   - common: the length of the common beginning.
    ///   - held: the number of held tokens.
    ///   - prompt: the number of the prompt's tokens.
    static func reused(_ common: Int, of held: Int, _ reach: MemoryReach, prompt: Int) -> Int {
        let usable = min(common, max(0, prompt - 1))
        return usable == held || reach.allows(keeping: usable, of: held) ? usable : 0
    }

    /// The plan after the memory refused to remove a part.
    package func afterRefusal(prompt: [Int32]) -> PrefixPlan { PrefixPlan(.rebuild, 0, prompt, .removalRefused) }

    /// The length of the common beginning of two lists.
    package static func commonLength(_ left: [Int32], _ right: [Int32]) -> Int {
        let limit = min(left.count, right.count)
        var count = 0
        while count < limit, left[count] == right[count] { count += 1 }
        return count
    }

    private init(_ action: Action, _ reused: Int, _ prompt: [Int32], _ miss: CacheMiss?) {
        self.action = action
        self.reused = reused
        remaining = prompt.count - reused
        self.miss = miss
    }
}
