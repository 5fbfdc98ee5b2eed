/// How often one sequence of tokens may stand at the end of an answer before the answer ends.
package struct RepetitionRule: Sendable, Hashable {
    /// The number of tokens of the shortest sequence.
    package var shortest = 1
    /// The number of tokens of the longest sequence; at most ``limit``.
    package var longest = 256
    /// The number of repeats that end the answer; at least 2.
    package var count = 8
    /// The number of tokens that the repeats have together at least.
    package var tokens = 96

    /// The longest sequence that a request may ask for.
    package static let limit = 4096

    package init() {}
}
