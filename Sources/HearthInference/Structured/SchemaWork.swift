import HearthBase

/// Counts the steps of combining and checking schemas: a short schema whose parts refer to one another may ask for a
/// number of steps that grows exponentially with its length.
final class SchemaWork {
    /// The most steps for one document.
    static let maximumOfDocument = 100_000
    /// The most steps for all documents of one grammar.
    static let maximum = 1_000_000
    /// The most combinations inside one another.
    private static let maximumDepth = 48

    private(set) var spent = 0
    private var limit = maximumOfDocument
    private var depth = 0
    /// What the references of the document lead to.
    private var targets: [String: JSONValue?] = [:]

    var isExhausted: Bool { spent >= limit }

    /// Begins with another document.
    func begin() {
        limit = min(spent + Self.maximumOfDocument, Self.maximum)
        targets = [:]
    }

    /// The schema at a reference into the document, which is found once.
    func resolved(_ reference: String, in document: JSONValue) -> JSONValue? {
        if let target = targets[reference] { return target }
        let target = document.resolved(reference)
        targets[reference] = .some(target)
        return target
    }

    /// Counts steps.
    /// - Returns: whether work is left.
    func spend(_ steps: Int = 1) -> Bool {
        spent = min(spent + steps, limit)
        return !isExhausted
    }

    /// Counts a combination that may contain others, until ``leave()``.
    /// - Returns: whether it is not too deep.
    func enter() -> Bool {
        depth += 1
        return depth <= Self.maximumDepth
    }

    func leave() { depth -= 1 }
}
