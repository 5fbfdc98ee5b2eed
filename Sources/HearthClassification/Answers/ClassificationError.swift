import HearthBase

extension Candidate: ErrorDomain {}

/// The error of a classifier that could not be loaded or could not answer.
public typealias ClassificationError = HearthError<Candidate>

extension ErrorCode<Candidate> {
    /// OpenVINO or the library of pictures is not on this machine, or the build has no classifiers.
    public static var visionMissing: Self { "vision-missing" }
    /// The file is no ONNX model, or it is damaged.
    public static var unreadableModel: Self { "classifier-unreadable" }
    /// The model has an operator, an input or an output that no engine here can use.
    public static var unsupportedModel: Self { "classifier-unsupported" }
    /// Neither the release nor the model says how pictures become the model's input.
    public static var undescribedInput: Self { "classifier-undescribed" }
    /// `classifier.json` contradicts its format.
    public static var unusableSettings: Self { "classifier-settings-unusable" }
    /// The list of classes is missing, empty, or has a class twice.
    public static var unusableClasses: Self { "class-list-unusable" }
    /// The model, its list of classes and its manifest contradict each other.
    public static var mismatched: Self { "classifier-mismatched" }
    /// The classifier does not know the picture that its publisher sent along.
    public static var canaryMissed: Self { "classifier-canary-missed" }
    /// No classifier is loaded.
    public static var notReady: Self { "classifier-not-ready" }
    /// The engine failed while it classified.
    public static var failed: Self { "classification-failed" }
    /// A document cannot be read as pages.
    public static var unusableDocument: Self { "document-unusable" }
}
