/// The known facts about a device's network.
public struct NetworkCondition: Sendable, Hashable {
    /// Whether there is a network. `true` if unknown, because an attempt may succeed.
    public var isOnline: Bool
    /// Whether its bytes cost money or count against an allowance. `false` if unknown.
    public var isMetered: Bool

    /// Memberwise.
    public init(isOnline: Bool, isMetered: Bool) {
        self.isOnline = isOnline
        self.isMetered = isMetered
    }

    /// Online and not metered; also assumed if nothing is known.
    public static let unrestricted = NetworkCondition(isOnline: true, isMetered: false)
}

/// Observes the device's network. It is never asked about local addresses or files.
public protocol NetworkMonitor: Sendable {
    /// The current condition; an assumed one before the first reading.
    var condition: NetworkCondition { get }

    /// The condition as soon as it is known, then each change; a slow reader gets the newest. Ends if no change can
    /// follow.
    func conditions() -> AsyncStream<NetworkCondition>

    /// The source's name for people, `nil` if it has none. Known after the first value of ``conditions()``.
    var source: String? { get }
}

extension NetworkMonitor {
    /// Whether there is a network. `true` if unknown, because an attempt may succeed.
    public var isConnected: Bool { condition.isOnline }

    /// The condition as soon as it is known.
    package func reading() async -> NetworkCondition {
        for await condition in conditions() { return condition }
        return condition
    }
}

/// A network without a monitor, with an assumed condition.
package struct UnmonitoredNetwork: NetworkMonitor {
    package let condition: NetworkCondition
    package let source: String?

    /// A network with an assumed condition, and the source of that assumption.
    package init(assuming condition: NetworkCondition = .unrestricted, source: String? = nil) {
        self.condition = condition
        self.source = source
    }

    package func conditions() -> AsyncStream<NetworkCondition> {
        AsyncStream { continuation in
            continuation.yield(condition)
            continuation.finish()
        }
    }
}
