/// The entity tag (`ETag`) of the file at each source.
///
/// If the file has a digest, that decides whether its bytes belong together; otherwise only the tags can.
struct EntityTags: Sendable {
    private var tags: [Int: String] = [:]
    /// The sources that answered a conditional request with another tag than before.
    private var changing: Set<Int> = []
    /// The facts last passed to the part file.
    package var begun: Begun?

    struct Begun: Sendable, Equatable {
        package let total: UInt64?
        package let source: Int
        package let tag: String?
    }

    /// The strong entity tag of a source.
    package func tag(of source: Int) -> String? { tags[source] }

    /// The tag for the field `If-Range` of a range request; `nil` for a request without that field.
    package func condition(for source: Int) -> String? { changing.contains(source) ? nil : tags[source] }

    /// Stops sending conditions to this source. If its machines disagree about the file's tag, every other conditional
    /// request would bring the whole file.
    mutating func distrust(_ source: Int) { changing.insert(source) }

    /// Whether a tag of another source is known.
    func isAnother(_ source: Int) -> Bool { tags.keys.contains { $0 != source } }

    /// Whether a response's bytes belong to those already received, judged by tags alone.
    /// - Parameters:
    ///   - tag: the strong entity tag of the response.
    ///   - isPart: whether the response is a part of the file; a whole one may answer a request for a part.
    ///   - isFirst: whether no byte of the file was received or is arriving over another connection.
    func vouch(for tag: String?, of source: Int, isPart: Bool, isFirst: Bool) -> Bool {
        if isAnother(source) { return false }
        // A source without a known tag may already have sent bytes without one.
        if isPart { return tag != nil && (tags[source] == tag || (isFirst && tags[source] == nil)) }
        return isFirst || (tag != nil && tags[source] == tag)
    }

    package mutating func note(_ tag: String?, of source: Int) { tags[source] = tag }

    package mutating func removeAll() {
        tags = [:]
        begun = nil
    }
}
