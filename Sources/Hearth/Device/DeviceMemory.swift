import Foundation
import HearthBase

/// The memory that a process on this device may use.
public struct DeviceMemory: Sendable, Hashable {
    /// The physical memory, in bytes.
    public var physical: UInt64
    /// The limit of this process's control group in bytes, `nil` without one.
    public var limit: UInt64?

    /// The smaller of the two, which models must fit into.
    public var usable: UInt64 { min(physical, limit ?? .max) }

    /// A memory of the given sizes.
    public init(physical: UInt64, limit: UInt64? = nil) {
        self.physical = physical
        self.limit = limit
    }

    /// Reads this device's memory. Blocks to read a few small files.
    public static func read() -> DeviceMemory {
        DeviceMemory(physical: ProcessInfo.processInfo.physicalMemory, limit: SystemMemory.limit)
    }
}
