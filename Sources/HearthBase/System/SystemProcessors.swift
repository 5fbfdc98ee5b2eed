import Foundation

/// The processors of this machine.
package enum SystemProcessors {
    /// The number of cores for this process: those of the scheduler, and at most as many as its control groups allow
    /// the time of. One thread too many would stop all of them for the rest of each tenth of a second. Blocks while a
    /// few small files are read.
    package static var usable: Int {
        let cores = ProcessInfo.processInfo.activeProcessorCount
        #if os(Linux)
        // A missing file sets no limit.
        guard let limit = ControlGroup.processorLimit(contents: SystemFile.contents) else { return cores }
        return max(1, Int(min(Double(cores), limit)))
        #else
        return cores
        #endif
    }
}
