/// Allows the tokens that fit a constraint. The engine asks for each token before it keeps it.
///
/// ```
///  free ──opening──> inside ──nothing more fits, and it may end──> free
/// ```
/// An arm without openings covers the whole answer: the answer begins inside and never leaves.
package struct ConstraintGate: Sendable {
    /// A grammar and the openings that start it.
    package struct Arm: Sendable {
        fileprivate let openings: [[UInt8]]
        fileprivate let includesOpening: Bool
        fileprivate let isLast: Bool
        fileprivate let isArmedInCode: Bool
        fileprivate var matcher: GrammarMatcher

        /// - Parameters:
        ///   - openings: texts that start the grammar; none if it covers the whole answer.
        ///   - includesOpening: whether the grammar itself begins with its opening, as in a tool call.
        ///   - isLast: whether the answer ends with the grammar.
        ///   - isArmedInCode: whether openings also count inside code fences.
        package init(
            _ grammar: Grammar, openings: [String] = [], includesOpening: Bool = false, isLast: Bool = false,
            isArmedInCode: Bool = false
        ) {
            self.openings = openings.map { Array($0.utf8) }.filter { !$0.isEmpty }
            self.includesOpening = includesOpening
            self.isLast = isLast || self.openings.isEmpty
            self.isArmedInCode = isArmedInCode
            matcher = GrammarMatcher(grammar)
        }
    }

    private var arms: [Arm]
    private let longest: Int
    /// The end of the free text, as long as the longest opening.
    private var tail: [UInt8] = []
    private var fence = CodeFence()
    /// The arm whose grammar applies now.
    private var current: Int?

    /// Makes the gate of one answer.
    package init(_ arms: [Arm]) {
        self.arms = arms
        longest = arms.flatMap(\.openings).reduce(0) { max($0, $1.count) }
        current = arms.firstIndex { $0.openings.isEmpty }
    }

    /// Whether a grammar applies now.
    package var isInside: Bool { current != nil }

    /// Whether the answer may end now.
    package var allowsEnd: Bool { current.map { arms[$0].matcher.isComplete } ?? true }

    /// Whether only the end may follow.
    package var isFinished: Bool {
        current.map { arms[$0].isLast && arms[$0].matcher.isClosed && arms[$0].matcher.isComplete } ?? false
    }

    /// Whether the grammar has needed too much work to apply it further.
    package var isExhausted: Bool { current.map { arms[$0].matcher.isExhausted } ?? false }

    /// Adds all bytes of a token, or none if they are not allowed.
    /// - Returns: whether they are allowed.
    package mutating func take(_ bytes: some Collection<UInt8>) -> Bool {
        let start = mark
        // If a block ends and the same arm starts again within one token, only a copy can restore the state before.
        var before: GrammarMatcher?
        for byte in bytes {
            if let arm = current {
                if arms[arm].matcher.take(byte) {
                    fence.take(byte)
                    continue
                }
                guard !arms[arm].isLast, arms[arm].matcher.isComplete else {
                    rollBack(to: start, before)
                    return false
                }
                current = nil
            }
            fence.take(byte)
            tail.append(byte)
            if tail.count > longest { tail.removeFirst(tail.count - longest) }
            guard let (arm, opening) = reached() else { continue }
            if arm == start.arm, before == nil { before = arms[arm].matcher }
            arms[arm].matcher.reset()
            if arms[arm].includesOpening, !arms[arm].matcher.take(opening) {
                rollBack(to: start, before)
                return false
            }
            tail.removeAll(keepingCapacity: true)
            current = arm
        }
        return true
    }

    /// The arm with the longest opening that ends the free text.
    private func reached() -> (arm: Int, opening: [UInt8])? {
        var longest: (arm: Int, opening: [UInt8])?
        for (index, arm) in arms.enumerated() where arm.isArmedInCode || !fence.isOpen {
            for opening in arm.openings where tail.count >= opening.count && opening.count > longest?.opening.count ?? 0
            {
                if tail.suffix(opening.count) == opening[...] { longest = (index, opening) }
            }
        }
        return longest
    }

    /// Whether the grammar allows these bytes; fast, for checks of a whole vocabulary. If a token ends a block, only
    /// the bytes up to that end are checked, and ``take(_:)`` decides.
    package mutating func allows(_ bytes: some Collection<UInt8>) -> Bool {
        guard let current else { return true }
        let start = arms[current].matcher.mark
        defer { arms[current].matcher.rollBack(to: start) }
        for byte in bytes where !arms[current].matcher.take(byte) {
            return !arms[current].isLast && arms[current].matcher.isComplete
        }
        return true
    }

    /// Calls `body` with the tokens of a vocabulary whose bytes may follow `begun`, by the rule of ``allows(_:)``.
    package mutating func visitAllowed(after begun: [UInt8], in trie: TokenTrie, _ body: (Int32) -> Void) {
        guard let current else { return trie.visit(take: { _ in .takenWithAllAfter }, back: { _ in }, body) }
        let isLast = arms[current].isLast
        let start = arms[current].matcher.mark
        defer { arms[current].matcher.rollBack(to: start) }
        var isFree = false
        for byte in begun where !isFree {
            guard !arms[current].matcher.take(byte) else { continue }
            guard !isLast, arms[current].matcher.isComplete else { return }
            isFree = true
        }
        var marks = [arms[current].matcher.mark]
        trie.visit(
            take: { byte in
                if isFree { return .takenWithAllAfter }
                guard arms[current].matcher.take(byte) else {
                    return !isLast && arms[current].matcher.isComplete ? .takenWithAllAfter : .refused
                }
                marks.append(arms[current].matcher.mark)
                return .taken
            },
            back: { count in
                marks.removeSubrange((count + 1)...)
                arms[current].matcher.rollBack(to: marks[count])
            }, body)
    }

    private struct Mark {
        let arm: Int?
        let matcher: GrammarMatcher.Mark?
        let tail: [UInt8]
        let fence: CodeFence
    }

    private var mark: Mark {
        Mark(arm: current, matcher: current.map { arms[$0].matcher.mark }, tail: tail, fence: fence)
    }

    private mutating func rollBack(to mark: Mark, _ before: GrammarMatcher?) {
        (current, tail, fence) = (mark.arm, mark.tail, mark.fence)
        guard let arm = mark.arm, let matcher = mark.matcher else { return }
        if let before { arms[arm].matcher = before }
        arms[arm].matcher.rollBack(to: matcher)
    }
}
