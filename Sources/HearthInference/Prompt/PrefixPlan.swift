/// The past states that an engine's memory can go back to.
package enum MemoryReach: Sendable, Hashable {
    /// Any: attention keeps every position, also where a layer looks only at the last ones.
    case anywhere
    /// Only the present one: recurrent layers overwrite their state.
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
    /// The exact tokens whose state is in memory, those of thinking among them.
    package var tokens: [Int32]
    /// The states memory can go back to.
    package var reach: MemoryReach

    /// The given facts.
    package init(tokens: [Int32], reach: MemoryReach = .anywhere) {
        self.tokens = tokens
        self.reach = reach
    }
}

/// Decides over the exact tokens how to bring the memory to the state before a prompt's last token.
///
/// | held and prompt | action | miss |
/// | --- | --- | --- |
/// | nothing is held | ``Action/prefillAll`` | `cold` |
/// | not even the first token agrees | ``Action/rebuild`` | `other-beginning` |
/// | all held tokens begin the prompt | ``Action/appendSuffix`` | none |
/// | the prompt is held wholly | ``Action/trim(to:)`` | `repeated` |
/// | they part | ``Action/trim(to:)`` | `parted`, `truncated` |
/// | one of the last two, and memory cannot go back | ``Action/rebuild`` | `recurrent` |
/// | memory refused to remove a part | ``afterRefusal(prompt:)`` | `removal-refused` |
package struct PrefixPlan: Sendable, Hashable {
    /// The step before the rest of the prompt is computed.
    package enum Action: Sendable, Hashable {
        /// The memory is empty: compute all.
        case prefillAll
        /// Compute what comes after the held tokens.
        case appendSuffix
        /// Remove the held tokens after so many.
        case trim(to: Int)
        /// Clear the memory and compute all.
        case rebuild
    }

    package typealias Miss = CacheMiss

    package let action: Action
    /// The prompt's tokens that need not be computed.
    package let reused: Int
    /// The tokens left to compute, at least one of a prompt that has any.
    package let remaining: Int
    /// The reason, `nil` when everything held was used.
    package let miss: Miss?

    /// Decides. O(length of the common beginning).
    ///
    /// - Parameters:
    ///   - held: what the memory holds.
    ///   - prompt: what is asked now.
    ///   - isTruncated: the oldest messages are not part of the prompt.
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
            let miss: Miss = common == prompt.count ? .repeated : isTruncated ? .truncated : .parted
            self.init(.trim(to: usable), usable, prompt, miss)
        } else {
            self.init(.rebuild, 0, prompt, .recurrent)
        }
    }

    /// The step after the memory refused to remove a part although it was expected to.
    package func afterRefusal(prompt: [Int32]) -> PrefixPlan { PrefixPlan(.rebuild, 0, prompt, .removalRefused) }

    /// The number of tokens two lists begin with together.
    package static func commonLength(_ left: [Int32], _ right: [Int32]) -> Int {
        let limit = min(left.count, right.count)
        var count = 0
        while count < limit, left[count] == right[count] { count += 1 }
        return count
    }

    private init(_ action: Action, _ reused: Int, _ prompt: [Int32], _ miss: Miss?) {
        self.action = action
        self.reused = reused
        remaining = prompt.count - reused
        self.miss = miss
    }
}
