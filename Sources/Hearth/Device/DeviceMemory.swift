import Foundation
import HearthBase

/// How much memory a process on this device may have.
public struct DeviceMemory: Sendable, Hashable {
    /// The bytes built in.
    public var physical: UInt64
    /// The bytes this process's control group may use, `nil` without a limit.
    public var limit: UInt64?

    /// The smaller of the two: what a model has to fit into.
    public var usable: UInt64 { min(physical, limit ?? .max) }

    /// The given figures.
    public init(physical: UInt64, limit: UInt64? = nil) {
        self.physical = physical
        self.limit = limit
    }

    /// This device's figures. Blocks for the reading of a few small files.
    public static func read() -> DeviceMemory {
        DeviceMemory(physical: ProcessInfo.processInfo.physicalMemory, limit: SystemMemory.limit)
    }
}
