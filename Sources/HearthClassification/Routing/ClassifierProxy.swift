import HearthBase

/// Holds the classifier in use, and exchanges it while it is used.
///
/// ```swift
/// let proxy = ClassifierProxy()
/// let decoder = RoutingDecoder(proxy: proxy, cloud: service)   // for the life of the app
/// await proxy.update(newClassifier)                            // later calls use the new one
/// ```
/// Calls under way end on the classifier that they began with, with its classes.
public actor ClassifierProxy {
    private var classifier: (any ImageClassifier)?

    /// Holds a loaded classifier, or none yet.
    public init(_ classifier: (any ImageClassifier)? = nil) { self.classifier = classifier }

    /// Whether there is a classifier. One exists only after an engine here has loaded and probed it.
    public var isModelReady: Bool { classifier != nil }

    /// The facts of the classifier in use; `nil` without one.
    public var information: ClassifierInformation? { classifier?.information }

    /// Makes a classifier the one of all later calls.
    public func update(_ newClassifier: any ImageClassifier) { classifier = newClassifier }

    /// Removes the classifier, such as after its release was removed.
    public func clear() { classifier = nil }

    /// The classifier in use, for calls that belong together.
    /// - Throws: `classifier-not-ready`.
    public func current() throws -> any ImageClassifier {
        guard let classifier else {
            throw ClassificationError(
                .notReady, "no classifier is loaded",
                context: ErrorContext(remedy: "Install a classifier first."), disposition: .tryLater)
        }
        return classifier
    }

    /// Classifies pictures with the classifier in use.
    /// - Throws: `classifier-not-ready`, and what the classifier throws.
    public nonisolated func classify(_ pictures: [Picture], top: Int = 5) async throws -> [[Candidate]] {
        try await current().classify(pictures, top: top)
    }
}
