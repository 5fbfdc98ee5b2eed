/// The kind of engine that answers.
public enum RouteSource: String, Sendable, Hashable, Codable, CaseIterable {
    case local, cloud
}

/// The facts of one request that the route depends on.
public struct RouteRequest: Sendable, Hashable {
    /// The kind of engine that the caller insists on; `nil` lets the rules decide. If the rules forbid the cloud, a
    /// request for it fails.
    public var preference: RouteSource?
    /// Nothing of a private conversation leaves the device.
    public var isPrivate: Bool
    /// The local model that the request names; `nil` for the default one.
    public var model: String?
    /// Identifies the turn, which costs one credit however many generations it takes; `nil` for the id of the last message of the
    /// user.
    public var turn: String?
    /// Whether the cloud may answer although ``model`` names a local one, which then answers in place of the cloud.
    package var allowsCloud = false

    /// A request without special needs unless said otherwise.
    public init(
        preference: RouteSource? = nil, isPrivate: Bool = false, model: String? = nil, turn: String? = nil
    ) {
        self.preference = preference
        self.isPrivate = isPrivate
        self.model = model
        self.turn = turn
    }
}
