// The network's path with the names of Apple's Network; tests say what it is.
import Dispatch
import Foundation

public struct NWPath: Equatable, Sendable {
    public enum Status: Sendable { case satisfied, unsatisfied, requiresConnection }

    public let status: Status
    public let isExpensive: Bool
    public let isConstrained: Bool

    public init(_ status: Status, isExpensive: Bool = false, isConstrained: Bool = false) {
        (self.status, self.isExpensive, self.isConstrained) = (status, isExpensive, isConstrained)
    }
}

public final class NWPathMonitor: @unchecked Sendable {
    private static let lock = NSLock()
    nonisolated(unsafe) private static var started: [ObjectIdentifier: NWPathMonitor] = [:]

    public var pathUpdateHandler: (@Sendable (_ newPath: NWPath) -> Void)?
    private var queue: DispatchQueue?

    public init() {}

    public func start(queue: DispatchQueue) {
        self.queue = queue
        Self.lock.withLock { Self.started[ObjectIdentifier(self)] = self }
    }

    public func cancel() { _ = Self.lock.withLock { Self.started.removeValue(forKey: ObjectIdentifier(self)) } }

    /// Tells every monitor that has started and was not cancelled, and returns their number.
    @discardableResult
    public static func announce(_ path: NWPath) -> Int {
        let monitors = lock.withLock { Array(started.values) }
        for monitor in monitors { monitor.queue?.sync { monitor.pathUpdateHandler?(path) } }
        return monitors.count
    }
}
