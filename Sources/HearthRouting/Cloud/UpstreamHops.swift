/// Counts the servers of Hearth that a request has passed, so that servers that serve each other's models do not ask in a
/// circle.
package enum UpstreamHops {
    /// The header with the count.
    package static let header = "X-Hearth-Hops"
    /// The most servers that a request passes.
    package static let maximum = 4

    /// The servers that the present request has passed before this one.
    @TaskLocal package static var count = 0

    /// Reads the header; 0 without one, and ``maximum`` for one that is no count.
    package static func read(_ text: String?) -> Int {
        guard let text else { return 0 }
        guard let count = Int(text), count >= 0 else { return maximum }
        return min(count, maximum)
    }
}
