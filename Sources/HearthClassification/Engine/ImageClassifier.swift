import HearthBase

/// Tells which class a picture shows.
///
/// ```swift
/// let classifier = try await ONNXClassifier.load(ClassifierFiles(local: Path("hanzi.onnx")))
/// let answer = try await classifier.classify([picture], top: 5)[0]
/// print(answer[0].label, answer[0].confidence)
/// ```
public protocol ImageClassifier: Sendable {
    /// The facts of the model and its classes.
    var information: ClassifierInformation { get }

    /// Classifies pictures of any size: the largest centred part with the proportions of the model's input is scaled to it.
    ///
    /// Several calls may run at once. A cancelled call ends after the batch under way, at most 32 pictures.
    /// - Parameter top: the most candidates of a picture; 1 or more.
    /// - Returns: the candidates of each picture, in the same order, the likeliest first.
    /// - Throws: ``ClassificationError`` with `classification-failed`; `CancellationError`.
    func classify(_ pictures: [Picture], top: Int) async throws -> [[Candidate]]
}

extension ImageClassifier {
    /// Classifies one picture.
    public func classify(_ picture: Picture, top: Int = 5) async throws -> [Candidate] {
        guard let answer = try await classify([picture], top: top).first else {
            throw ClassificationError(.failed, "the classifier gave no answer")
        }
        return answer
    }
}

/// The facts of a classifier.
public struct ClassifierInformation: Sendable, Hashable {
    /// The name of the model for people, such as `hearth-hanzi@1.0.0` or a file's name.
    public var name: String
    /// The number of classes.
    public var classCount: Int
    /// The version of the list of classes; `nil` if unknown.
    public var classListVersion: String?
    /// The size of the model's input in pixels.
    public var inputWidth = 64
    public var inputHeight = 64
    /// Whether the model sees grey only.
    public var isGrey = true
    /// The white margin around a character cut from a page, as a share of the character's side.
    public var margin = 0.1
    /// The confidences that the publisher recommends for routing.
    package var thresholds = RoutingThresholds()

    /// Makes facts, by default those of a grey input of 64 × 64 pixels.
    public init(name: String, classCount: Int) {
        self.name = name
        self.classCount = classCount
    }
}
