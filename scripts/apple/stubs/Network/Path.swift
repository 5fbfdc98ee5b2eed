import AppleFoundation

// developer.apple.com/documentation/network/nwpath
public struct NWPath: Equatable, Sendable {
    // developer.apple.com/documentation/network/nwpath/status-swift.enum
    public enum Status: Sendable {
        case satisfied, unsatisfied, requiresConnection
    }
    public let status: Status
    public var isExpensive: Bool { get {} }
    public var isConstrained: Bool { get {} }
    // developer.apple.com/documentation/network/nwpath/isultraconstrained
    @available(iOS 26.0, macOS 26.0, tvOS 26.0, visionOS 26.0, *)
    public var isUltraConstrained: Bool { get {} }
}

// developer.apple.com/documentation/network/nwpathmonitor
public final class NWPathMonitor: @unchecked Sendable {
    public init() {}
    public var pathUpdateHandler: (@Sendable (_ newPath: NWPath) -> Void)?
    public var currentPath: NWPath { get {} }
    public func start(queue: DispatchQueue) {}
    public func cancel() {}
}
