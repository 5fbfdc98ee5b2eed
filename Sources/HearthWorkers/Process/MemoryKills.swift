import HearthBase

/// The processes that the kernel has ended for lack of memory since the machine started.
enum MemoryKills {
    /// The number; `nil` where the kernel does not report it.
    static func count() -> UInt64? { SystemFile.contents("/proc/vmstat").flatMap(count(in:)) }

    static func count(in table: String) -> UInt64? {
        for line in table.split(separator: "\n") where line.hasPrefix("oom_kill ") {
            return UInt64(line.dropFirst("oom_kill ".count))
        }
        return nil
    }
}
