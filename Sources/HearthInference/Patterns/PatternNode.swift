/// A regular expression as a tree.
indirect enum PatternNode: Sendable, Hashable {
    case empty
    case set(PatternSet)
    case sequence([PatternNode])
    case alternatives([PatternNode])
    /// At least `low` times; at most `high` times, `nil` for any number.
    case repeated(PatternNode, low: Int, high: Int?, isLazy: Bool)
    /// A group whose text a reference repeats.
    case group(PatternNode, number: Int)
    /// The beginning of the text, or of a line.
    case begin(isOfLine: Bool)
    /// The end of the text, or of a line.
    case end(isOfLine: Bool)
    /// A place between a word character and another one; not such a place if negated.
    case boundary(isNegated: Bool)
    /// What follows (or precedes) the place without being part of the match.
    case look(PatternNode, isAhead: Bool, isNegated: Bool)
    /// The text that a group has matched.
    case reference(Int)
}

/// The reason why a text is no regular expression, or one that is not followed.
struct PatternFlaw: Error, Hashable {
    let reason: String
}
