import Foundation

#if canImport(os)
import os
#endif

/// The memory of this machine.
package enum SystemMemory {
    /// The most memory that the system allows this process, in bytes; `nil` without a limit. On Linux that of its control
    /// groups; blocks while a few small files are read. On iOS, tvOS and visionOS the memory that was left at the first call.
    package static var limit: UInt64? {
        #if os(Linux)
        // A missing file sets no limit.
        ControlGroup.memoryLimit(contents: SystemFile.contents)
        #elseif os(iOS) || os(tvOS) || os(visionOS)
        leftAtFirst
        #else
        nil
        #endif
    }

    #if os(iOS) || os(tvOS) || os(visionOS)
    /// 0 stands for no limit.
    private static let leftAtFirst = [UInt64(os_proc_available_memory())].first { $0 > 0 }
    #endif

    /// The smaller of the installed memory and that limit, in bytes. Blocks likewise.
    package static var usable: UInt64 { min(ProcessInfo.processInfo.physicalMemory, limit ?? .max) }
}
