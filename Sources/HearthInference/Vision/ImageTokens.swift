/// The number of tokens of a picture, for models that cut pictures by their size (the Qwen family, Gemma 4, Pixtral).
/// Others cut every picture alike and take no notice. More tokens show more, and take more of the context and of the time.
public struct ImageTokens: Sendable, Hashable, CustomStringConvertible {
    /// The allowed numbers.
    public static let range = 1...65_536

    /// The fewest: smaller pictures are enlarged. `nil` for what the projector's file says.
    public var minimum: Int?
    /// The most: larger pictures are made smaller. `nil` for what the projector's file says.
    public var maximum: Int?

    public var description: String { "\(minimum.map(String.init) ?? "")…\(maximum.map(String.init) ?? "")" }

    /// The given bounds, each within ``range``; a maximum below the minimum takes its place too.
    public init(minimum: Int? = nil, maximum: Int? = nil) {
        let clamp = { (count: Int) in min(max(count, Self.range.lowerBound), Self.range.upperBound) }
        self.maximum = maximum.map(clamp)
        self.minimum = minimum.map { min(clamp($0), maximum.map(clamp) ?? .max) }
    }
}
