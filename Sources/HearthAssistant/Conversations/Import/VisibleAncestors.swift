/// Finds the messages that people saw above others. Each hidden one is passed once, however many follow it.
struct VisibleAncestors {
    private let parents: [String: String?]
    private let visible: Set<String>
    /// What is known of hidden messages.
    private var found: [String: String?] = [:]
    /// The hidden messages that were passed so far.
    private(set) var steps = 0

    /// - Parameter parents: the parent of each message, by id, without circles.
    init(_ parents: [String: String?], visible: Set<String>) {
        (self.parents, self.visible) = (parents, visible)
    }

    /// A message itself if people saw it, otherwise the nearest one above it; `nil` if no such one exists.
    mutating func nearest(from id: String?) -> String? {
        var way: [String] = []
        var result: String?
        var next = id
        while let now = next {
            if visible.contains(now) {
                result = now
                break
            }
            if let known = found[now] {
                result = known
                break
            }
            guard let parent = parents[now] else { break }
            steps += 1
            way.append(now)
            next = parent
        }
        for passed in way { found.updateValue(result, forKey: passed) }
        return result
    }
}
