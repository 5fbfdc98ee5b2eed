import Foundation

/// The memory of this machine.
package enum SystemMemory {
    /// The most this process's control groups may use, in bytes; `nil` without a limit. Blocks for the reading of a few small
    /// files.
    package static var limit: UInt64? {
        #if os(Linux)
            // A file that is not there sets no limit.
            ControlGroup.memoryLimit(contents: SystemFile.contents)
        #else
            nil
        #endif
    }

    /// The smaller of what is built in and that limit, in bytes. Blocks likewise.
    package static var usable: UInt64 { min(ProcessInfo.processInfo.physicalMemory, limit ?? .max) }
}
