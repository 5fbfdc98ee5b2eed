import Foundation

/// The memory of this machine.
package enum SystemMemory {
    /// The most memory that this process's control groups allow, in bytes; `nil` without a limit. Blocks while a few
    /// small files are read.
    package static var limit: UInt64? {
        #if os(Linux)
        // A missing file sets no limit.
        ControlGroup.memoryLimit(contents: SystemFile.contents)
        #else
        nil
        #endif
    }

    /// The smaller of the installed memory and that limit, in bytes. Blocks likewise.
    package static var usable: UInt64 { min(ProcessInfo.processInfo.physicalMemory, limit ?? .max) }
}
