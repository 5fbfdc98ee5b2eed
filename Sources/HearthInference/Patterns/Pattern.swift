import HearthBase

/// A regular expression of a JSON schema (`pattern`): the texts that a grammar writes for it, and the check of a
/// finished text.
struct Pattern: Sendable {
    private let root: PatternNode
    private let hasReferences: Bool

    /// Reads an expression.
    /// - Throws: ``PatternFlaw`` for a text that cannot be read as one.
    init(_ source: String) throws(PatternFlaw) {
        (root, hasReferences) = try PatternReader.read(source)
    }

    /// The texts that a grammar may write.
    struct Texts: Sendable {
        var automaton: TextAutomaton
        var fewest = 0
        var most: Int?
        /// Whether some of the texts do not fit the expression, so that a finished one must be checked.
        var isLoosened: Bool
    }

    /// The texts in which the expression matches, by the reading of all dialects.
    var texts: Texts {
        if let counted = counted { return counted }
        for reading in [TextAutomaton.Reading.narrow, .exact] {
            // An automaton that is too large: the expression is not held, and its texts are checked at the end.
            guard let made = try? TextAutomaton.searching(root, reading) else { break }
            if made.automaton.isEmpty, reading == .narrow { continue }
            return Texts(automaton: made.automaton, isLoosened: made.isLoosened || hasReferences)
        }
        return Texts(automaton: .anything, isLoosened: true)
    }

    /// Exactly the texts in which the expression matches, as ECMAScript reads it; `nil` if no automaton holds them.
    var matching: TextAutomaton? {
        // An automaton that is too large counts as none.
        guard !hasReferences, let made = try? TextAutomaton.searching(root, .exact), !made.isLoosened else {
            return nil
        }
        return made.automaton
    }

    /// The texts of `^[…]{n,m}$`, whose length is counted in place of a state for each character.
    private var counted: Texts? {
        guard case .sequence(let items) = root, items.count == 3, case .begin = items[0], case .end = items[2] else {
            return nil
        }
        var inner = items[1]
        while case .group(let item, _) = inner { inner = item }
        guard case .repeated(let item, let low, let high, let isLazy) = inner, case .set = item else { return nil }
        let any = PatternNode.repeated(item, low: 0, high: nil, isLazy: isLazy)
        // One that is too large is not counted, but tried whole.
        guard let made = try? TextAutomaton.searching(.sequence([items[0], any, items[2]]), .narrow),
            !made.automaton.isEmpty
        else { return nil }
        return Texts(automaton: made.automaton, fewest: low, most: high, isLoosened: false)
    }

    /// Whether the expression matches somewhere in a text, as ECMAScript reads it; `nil` if that cannot be decided with
    /// bounded work.
    func matches(_ text: String) -> Bool? {
        var match = PatternMatch(text, maximumSteps: Self.fewSteps)
        if let found = match.find(root) { return found }
        // An automaton needs one step for each character, however an expression is written.
        if let matching { return matching.matches(text.unicodeScalars) }
        match = PatternMatch(text, maximumSteps: Self.manySteps)
        return match.find(root)
    }

    private static let fewSteps = 20_000
    /// Some hundredths of a second.
    private static let manySteps = 400_000
}

/// The expressions that were read, because a schema checks many values with few of them.
final class PatternTable: Sendable {
    static let shared = PatternTable()
    private let known = Locked<[String: Pattern?]>([:])
    private static let limit = 256

    /// The expression of a text; `nil` if it cannot be read as one.
    func pattern(_ source: String) -> Pattern? {
        if let found = known.withLock({ $0[source] }) { return found }
        // What is no expression is remembered as that; who needs the reason makes the expression itself.
        let made = try? Pattern(source)
        known.withLock {
            if $0.count >= Self.limit { $0.removeAll() }
            $0[source] = .some(made)
        }
        return made
    }
}
