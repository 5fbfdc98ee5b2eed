import Foundation
import HearthBase

/// The memory that a process on this device may use.
package struct DeviceMemory: Sendable, Hashable {
    /// The physical memory, in bytes.
    package var physical: UInt64
    /// The limit of this process's control group in bytes, `nil` without one.
    package var limit: UInt64?

    /// The smaller of the two, which models must fit into.
    package var usable: UInt64 { min(physical, limit ?? .max) }

    /// Reads this device's memory. Blocks to read a few small files.
    package static func read() -> DeviceMemory {
        DeviceMemory(physical: ProcessInfo.processInfo.physicalMemory, limit: SystemMemory.limit)
    }
}
