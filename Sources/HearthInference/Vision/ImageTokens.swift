/// The number of tokens of a picture, for models that cut pictures by their size (the Qwen family, Gemma 4, Pixtral).
/// Models that cut every picture alike ignore it. More tokens show more detail, and use more of the context and of the
/// time.
package struct ImageTokens: Sendable, Hashable, CustomStringConvertible {
    /// The allowed numbers.
    package static let range = 1...65_536

    /// The fewest tokens: smaller pictures are enlarged. `nil` for the number in the projector's file.
    package var minimum: Int?
    /// The most tokens: larger pictures are scaled down. `nil` for the number in the projector's file.
    package var maximum: Int?

    package var description: String { "\(minimum.map(String.init) ?? "")…\(maximum.map(String.init) ?? "")" }

    /// Makes bounds, each within ``range``. A maximum below the minimum also replaces the minimum.
    package init(minimum: Int? = nil, maximum: Int? = nil) {
        let clamp = { (count: Int) in min(max(count, Self.range.lowerBound), Self.range.upperBound) }
        self.maximum = maximum.map(clamp)
        self.minimum = minimum.map { min(clamp($0), maximum.map(clamp) ?? .max) }
    }
}
