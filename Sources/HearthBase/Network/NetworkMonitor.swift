/// What is known of the network a device is on.
public struct NetworkCondition: Sendable, Hashable {
    /// Whether there is a network at all. `true` where nobody knows: trying and failing is better than not trying.
    public var isOnline: Bool
    /// Whether its bytes cost money or count against an allowance. `false` where nobody knows.
    public var isMetered: Bool

    /// A condition of the given facts.
    public init(isOnline: Bool, isMetered: Bool) {
        self.isOnline = isOnline
        self.isMetered = isMetered
    }

    /// Online, and not metered: also what is assumed where nobody knows.
    public static let unrestricted = NetworkCondition(isOnline: true, isMetered: false)
}

/// Who tells of the device's network. It is never asked about this machine itself or about files.
public protocol NetworkMonitor: Sendable {
    /// What is known now; ``NetworkCondition/unrestricted`` before the first reading.
    var condition: NetworkCondition { get }

    /// The condition as soon as it is known, then each change; whoever reads slowly gets the newest. Ends when there will be no
    /// further change.
    func conditions() -> AsyncStream<NetworkCondition>

    /// Who tells, for people; `nil` when nobody does. Known once ``conditions()`` has given one.
    var source: String? { get }
}

/// A network that nobody watches: its condition is what it is taken to be.
public struct UnmonitoredNetwork: NetworkMonitor {
    public let condition: NetworkCondition
    public let source: String?

    /// A network taken to be in the given condition, because `source` says so.
    public init(assuming condition: NetworkCondition = .unrestricted, source: String? = nil) {
        self.condition = condition
        self.source = source
    }

    public func conditions() -> AsyncStream<NetworkCondition> {
        AsyncStream { continuation in
            continuation.yield(condition)
            continuation.finish()
        }
    }
}
