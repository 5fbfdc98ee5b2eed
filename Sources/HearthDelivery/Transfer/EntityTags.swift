/// Which entity each place said it has.
///
/// Of a file with a digest the tags decide nothing: the digest says in the end whether its bytes belong together. Without
/// one nothing else does.
struct EntityTags: Sendable {
    private var tags: [Int: String] = [:]
    /// The places that have said another tag to a conditional request than before.
    private var changing: Set<Int> = []
    /// What the part file was told last.
    var begun: Begun?

    struct Begun: Sendable, Equatable {
        let total: UInt64?
        let source: Int
        let tag: String?
    }

    /// The strong entity tag of a place.
    func tag(of source: Int) -> String? { tags[source] }

    /// The tag that a request for a part is made conditional on; `nil` for one without a condition.
    func condition(for source: Int) -> String? { changing.contains(source) ? nil : tags[source] }

    /// Asks this place without a condition from now on: several machines that do not agree about the tag of one file would
    /// answer every other request with the whole of it.
    mutating func distrust(_ source: Int) { changing.insert(source) }

    /// Whether bytes came from another place than this one.
    func isAnother(_ source: Int) -> Bool { tags.keys.contains { $0 != source } }

    /// Whether an answer's bytes belong to those that are here, where nothing but tags tells.
    /// - Parameters:
    ///   - tag: the strong entity tag of the answer.
    ///   - isPart: whether the answer is a part of a file; else it is a whole one, of which a part may be wanted.
    ///   - isFirst: whether no byte of the file is here or on its way over another connection.
    func vouch(for tag: String?, of source: Int, isPart: Bool, isFirst: Bool) -> Bool {
        if isAnother(source) { return false }
        // A place without a tag is not one whose first part this is: bytes may be here that it sent under none.
        if isPart { return tag != nil && (tags[source] == tag || (isFirst && tags[source] == nil)) }
        return isFirst || (tag != nil && tags[source] == tag)
    }

    mutating func note(_ tag: String?, of source: Int) { tags[source] = tag }

    mutating func removeAll() {
        tags = [:]
        begun = nil
    }
}
