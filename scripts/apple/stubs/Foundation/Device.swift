import Dispatch
import Foundation

extension ProcessInfo {
    // developer.apple.com/documentation/foundation/processinfo/thermalstate-swift.enum
    public enum ThermalState: Int, Sendable { case nominal = 0, fair = 1, serious = 2, critical = 3 }
    // developer.apple.com/documentation/foundation/processinfo/thermalstate-swift.property
    public var thermalState: ThermalState { get {} }
    // developer.apple.com/documentation/foundation/processinfo/islowpowermodeenabled
    public var isLowPowerModeEnabled: Bool { get {} }
    // developer.apple.com/documentation/foundation/processinfo/thermalstatedidchangenotification
    public static let thermalStateDidChangeNotification: Notification.Name = Notification.Name("")
}

extension Notification.Name {
    // developer.apple.com/documentation/foundation/nsnotification/name-swift.struct/nsprocessinfopowerstatedidchange
    public static let NSProcessInfoPowerStateDidChange: Notification.Name = Notification.Name("")
}

// developer.apple.com/documentation/dispatch/dispatchsourcememorypressure
public protocol DispatchSourceMemoryPressure: DispatchSourceProtocol {}

extension DispatchSource {
    // developer.apple.com/documentation/dispatch/dispatchsource/memorypressureevent
    public struct MemoryPressureEvent: OptionSet, Sendable {
        public let rawValue: UInt
        public init(rawValue: UInt) {}
        public static let warning: MemoryPressureEvent = MemoryPressureEvent(rawValue: 2)
        public static let critical: MemoryPressureEvent = MemoryPressureEvent(rawValue: 4)
    }
    // developer.apple.com/documentation/dispatch/dispatchsource/makememorypressuresource(eventmask:queue:)
    public class func makeMemoryPressureSource(
        eventMask: DispatchSource.MemoryPressureEvent, queue: DispatchQueue? = nil
    ) -> any DispatchSourceMemoryPressure {}
}
