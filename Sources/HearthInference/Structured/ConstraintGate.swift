/// Lets through what a constraint allows: asked for each token before it counts.
///
/// ```
///  free ──trigger──> inside ──nothing more fits, and it may end──> free
/// ```
/// Without triggers the answer begins inside and never leaves. Triggers that are part of the grammar, such as the mark of a call,
/// lead inside for good.
public struct ConstraintGate: Sendable {
    private let triggers: [[UInt8]]
    private let longest: Int
    /// The grammar begins with its trigger and goes to the answer's end.
    private let isLast: Bool
    private var matcher: GrammarMatcher
    /// The end of the free text, as long as a trigger.
    private var tail: [UInt8] = []
    /// Whether the grammar is followed now.
    public private(set) var isInside: Bool

    /// The gate of one answer.
    /// - Parameter triggersBelong: whether the grammar begins with its triggers, and the answer ends with it.
    public init(_ grammar: Grammar, triggers: [String] = [], triggersBelong: Bool = false) {
        isLast = triggersBelong || triggers.isEmpty
        self.triggers = triggers.map { Array($0.utf8) }.filter { !$0.isEmpty }
        longest = self.triggers.reduce(0) { max($0, $1.count) }
        matcher = GrammarMatcher(grammar)
        isInside = triggers.isEmpty
    }

    /// Whether the answer may end here.
    public var allowsEnd: Bool { !isInside || matcher.isComplete }

    /// Whether nothing but the end may follow.
    public var isFinished: Bool { isInside && isLast && matcher.isClosed && matcher.isComplete }

    /// The grammar is too much work to be followed any further.
    public var isExhausted: Bool { matcher.isExhausted }

    /// Takes the bytes of a token, all of them or none.
    /// - Returns: whether they are allowed.
    public mutating func take(_ bytes: some Collection<UInt8>) -> Bool {
        let start = mark
        // A block that ends and another that begins within one token leave no way back but a copy.
        var before: GrammarMatcher?
        for byte in bytes {
            if isInside {
                if matcher.take(byte) { continue }
                guard !isLast, matcher.isComplete else {
                    if let before { matcher = before }
                    rollBack(to: start)
                    return false
                }
                isInside = false
            }
            tail.append(byte)
            if tail.count > longest { tail.removeFirst(tail.count - longest) }
            let reached = triggers.filter { tail.count >= $0.count && tail.suffix($0.count) == $0[...] }
            guard let trigger = reached.max(by: { $0.count < $1.count }) else { continue }
            if start.isInside, before == nil { before = matcher }
            matcher.reset()
            if isLast, !matcher.take(trigger) {
                rollBack(to: start)
                return false
            }
            tail.removeAll(keepingCapacity: true)
            isInside = true
        }
        return true
    }

    /// Whether the grammar has nothing against these bytes. Quick, for looking at a whole vocabulary: of a token that ends a
    /// block only the beginning is looked at, so ``take(_:)`` has the last word.
    public mutating func allows(_ bytes: some Collection<UInt8>) -> Bool {
        guard isInside else { return true }
        let start = matcher.mark
        defer { matcher.rollBack(to: start) }
        for byte in bytes where !matcher.take(byte) { return !isLast && matcher.isComplete }
        return true
    }

    private struct Mark {
        let isInside: Bool
        let tail: [UInt8]
        let matcher: GrammarMatcher.Mark
    }

    private var mark: Mark { Mark(isInside: isInside, tail: tail, matcher: matcher.mark) }

    private mutating func rollBack(to mark: Mark) {
        isInside = mark.isInside
        tail = mark.tail
        if mark.isInside { matcher.rollBack(to: mark.matcher) }
    }
}
