/// A class and how likely a picture shows it.
public struct Candidate: Sendable, Hashable {
    public var label: String
    /// 0...1; the confidences of all classes add up to one. NaN if the model computed no number.
    public var confidence: Double

    /// Memberwise.
    public init(_ label: String, _ confidence: Double) {
        self.label = label
        self.confidence = confidence
    }
}
