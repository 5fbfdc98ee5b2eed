// developer.apple.com/documentation/foundation/posixerror
public struct POSIXError: Error, Hashable, Sendable {
    public typealias Code = POSIXErrorCode
    public init(_ code: Code, userInfo: [String: Any] = [:]) {}
    public var code: Code { get {} }
}
