import Foundation

/// The processors of this machine.
package enum SystemProcessors {
    /// The cores this process may use: those the scheduler gives it, and no more than its control groups allow it the time of, since
    /// one thread too many has all of them stopped for the rest of each tenth of a second. Blocks for the reading of a few small files.
    package static var usable: Int {
        let cores = ProcessInfo.processInfo.activeProcessorCount
        #if os(Linux)
            // A file that is not there sets no limit.
            guard let limit = ControlGroup.processorLimit(contents: SystemFile.contents) else { return cores }
            return max(1, Int(min(Double(cores), limit)))
        #else
            return cores
        #endif
    }
}
