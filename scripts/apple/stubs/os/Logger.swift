// developer.apple.com/documentation/os/oslogtype
public struct OSLogType: Equatable, RawRepresentable, Sendable {
    public let rawValue: UInt8
    public init(rawValue: UInt8) {}
    public static var `default`: OSLogType { get {} }
    public static var info: OSLogType { get {} }
    public static var debug: OSLogType { get {} }
    public static var error: OSLogType { get {} }
    public static var fault: OSLogType { get {} }
}

// developer.apple.com/documentation/os/oslogprivacy
public struct OSLogPrivacy: Sendable {
    public static var `public`: OSLogPrivacy { get {} }
    public static var `private`: OSLogPrivacy { get {} }
    public static var auto: OSLogPrivacy { get {} }
}

// developer.apple.com/documentation/os/osloginterpolation
public struct OSLogInterpolation: StringInterpolationProtocol {
    public init(literalCapacity: Int, interpolationCount: Int) {}
    public mutating func appendLiteral(_ literal: String) {}
    public mutating func appendInterpolation(_ argument: @autoclosure @escaping () -> String, privacy: OSLogPrivacy = .auto) {}
    public mutating func appendInterpolation<T: FixedWidthInteger>(
        _ number: @autoclosure @escaping () -> T, privacy: OSLogPrivacy = .auto) {}
}

// developer.apple.com/documentation/os/oslogmessage
public struct OSLogMessage: ExpressibleByStringInterpolation, ExpressibleByStringLiteral {
    public init(stringInterpolation: OSLogInterpolation) {}
    public init(stringLiteral value: String) {}
}

// developer.apple.com/documentation/os/logger
public struct Logger: @unchecked Sendable {
    public init(subsystem: String, category: String) {}
    public func log(level: OSLogType, _ message: OSLogMessage) {}
    public func log(_ message: OSLogMessage) {}
    public func debug(_ message: OSLogMessage) {}
    public func info(_ message: OSLogMessage) {}
    public func notice(_ message: OSLogMessage) {}
    public func error(_ message: OSLogMessage) {}
    public func fault(_ message: OSLogMessage) {}
}
