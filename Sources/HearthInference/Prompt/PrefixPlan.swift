/// Which past states an engine's memory can go back to.
public enum MemoryReach: Sendable, Hashable {
    /// Any: ordinary attention keeps every position.
    case anywhere
    /// Only the present one and the saved ones: recurrent layers overwrite their state.
    case presentOnly
    /// Those whose window is still there: layers with a sliding window of so many tokens, which have kept the positions
    /// from `oldest` on.
    case window(length: Int, oldest: Int)

    /// Whether the tokens after the first `count` of `held` can be removed.
    func allows(keeping count: Int, of held: Int) -> Bool {
        switch self {
        case .anywhere: true
        case .presentOnly: count == held || count == 0
        case .window(let length, let oldest): count == held || count == 0 || oldest <= max(0, count - length)
        }
    }
}

/// What an engine holds of one conversation.
public struct HeldPrefix: Sendable, Hashable {
    /// The exact tokens whose state is in memory, those of thinking among them.
    public var tokens: [Int32]
    /// What made the state: a model, a context, adapters. Another maker's state is of no use.
    public var maker: String
    /// The states memory can go back to.
    public var reach: MemoryReach
    /// The lengths at which the state was saved and can be restored, in any order.
    public var checkpoints: [Int]

    /// The given facts.
    public init(tokens: [Int32], maker: String = "", reach: MemoryReach = .anywhere, checkpoints: [Int] = []) {
        self.tokens = tokens
        self.maker = maker
        self.reach = reach
        self.checkpoints = checkpoints
    }
}

/// How to bring the memory to the state before a prompt's last token: a decision over the exact tokens.
///
/// | held and prompt | action | miss |
/// | --- | --- | --- |
/// | nothing is held | ``Action/prefillAll`` | `cold` |
/// | another maker | ``Action/rebuild`` | `other-maker` |
/// | not even the first token agrees | ``Action/rebuild`` | `other-beginning` |
/// | all held tokens begin the prompt | ``Action/appendSuffix`` | none |
/// | the prompt is held wholly | ``Action/trim(to:)`` | `repeated` |
/// | they part | ``Action/trim(to:)`` | `parted`, `truncated` |
/// | they part, and memory cannot go back | ``Action/restore(checkpoint:)``, else ``Action/rebuild`` | `recurrent`, `window-passed` |
/// | memory refused to remove a part | ``afterRefusal`` | `removal-refused` |
public struct PrefixPlan: Sendable, Hashable {
    /// What to do before the rest of the prompt is computed.
    public enum Action: Sendable, Hashable {
        /// Nothing is there: compute all.
        case prefillAll
        /// Compute what comes after the held tokens.
        case appendSuffix
        /// Remove the held tokens after so many.
        case trim(to: Int)
        /// Bring back the state saved at so many tokens.
        case restore(checkpoint: Int)
        /// Forget everything and compute all.
        case rebuild
    }

    /// Why not all that is held could be used.
    public enum Miss: String, Sendable, Hashable, Codable, CaseIterable {
        case cold
        case otherMaker = "other-maker"
        case otherBeginning = "other-beginning"
        /// The same prompt again: its last token is computed anew, for what follows it is chosen from that.
        case repeated
        /// The conversation went on differently from what was said: an edited message, an answer retold by the template.
        case parted
        /// The oldest messages were left out to fit the window.
        case truncated
        case recurrent
        case windowPassed = "window-passed"
        case removalRefused = "removal-refused"
    }

    public let action: Action
    /// The prompt's tokens that need not be computed.
    public let reused: Int
    /// The tokens left to compute, at least one of a prompt that has any.
    public let remaining: Int
    /// The reason, `nil` when everything held was used.
    public let miss: Miss?

    /// Decides. O(length of the common beginning).
    ///
    /// - Parameters:
    ///   - held: what the memory holds.
    ///   - prompt: what is asked now.
    ///   - maker: what would make its state.
    ///   - isTruncated: the oldest messages are not part of the prompt.
    public init(held: HeldPrefix, prompt: [Int32], maker: String = "", isTruncated: Bool = false) {
        let common = Self.commonLength(held.tokens, prompt)
        // The logits of the last prompt token are needed to go on.
        let usable = min(common, max(0, prompt.count - 1))
        let isWhole = common == held.tokens.count && usable == common
        if held.tokens.isEmpty {
            self.init(.prefillAll, 0, prompt, .cold)
        } else if held.maker != maker {
            self.init(.rebuild, 0, prompt, .otherMaker)
        } else if usable == 0 {
            self.init(.rebuild, 0, prompt, common > 0 ? .repeated : .otherBeginning)
        } else if isWhole {
            self.init(.appendSuffix, usable, prompt, nil)
        } else {
            let miss: Miss = common == prompt.count ? .repeated : isTruncated ? .truncated : .parted
            if held.reach.allows(keeping: usable, of: held.tokens.count) {
                self.init(.trim(to: usable), usable, prompt, miss)
            } else {
                let reason: Miss = held.reach == .presentOnly ? .recurrent : .windowPassed
                self.init(backTo: held.checkpoints, below: usable, prompt, reason)
            }
        }
    }

    /// What to do after the memory refused to remove a part although it was expected to: the checkpoints are as doubtful.
    public func afterRefusal(prompt: [Int32]) -> PrefixPlan { PrefixPlan(.rebuild, 0, prompt, .removalRefused) }

    /// The number of tokens two lists begin with together.
    public static func commonLength(_ left: [Int32], _ right: [Int32]) -> Int {
        let limit = min(left.count, right.count)
        var count = 0
        while count < limit, left[count] == right[count] { count += 1 }
        return count
    }

    private init(backTo checkpoints: [Int], below limit: Int, _ prompt: [Int32], _ miss: Miss) {
        if let checkpoint = checkpoints.filter({ 0 < $0 && $0 <= limit }).max() {
            self.init(.restore(checkpoint: checkpoint), checkpoint, prompt, miss)
        } else {
            self.init(.rebuild, 0, prompt, miss)
        }
    }

    private init(_ action: Action, _ reused: Int, _ prompt: [Int32], _ miss: Miss?) {
        self.action = action
        self.reused = reused
        remaining = prompt.count - reused
        self.miss = miss
    }
}
