import HearthBase

/// The system's report on available memory.
package struct MemoryReading: Sendable, Hashable {
    /// The memory available without swapping or evicting anything, in bytes.
    package var availableBytes: UInt64?
    /// The total memory, in bytes.
    package var totalBytes: UInt64?
    /// The share of the last ten seconds in which tasks waited for memory, 0...1 (Linux: pressure stall information).
    package var stalledShare: Double?

    /// A reading with the given values; `nil` if unknown.
    package init(availableBytes: UInt64? = nil, totalBytes: UInt64? = nil, stalledShare: Double? = nil) {
        self.availableBytes = availableBytes
        self.totalBytes = totalBytes
        self.stalledShare = stalledShare
    }

    /// Users notice when work stalls for a tenth of the time.
    static let stallLimit = 0.1

    /// The bytes that idle engines should free: until a tenth of the total is available, or all while work stalls.
    package var shortage: UInt64 {
        if let stalledShare, stalledShare >= Self.stallLimit { return .max }
        guard let availableBytes, let totalBytes else { return 0 }
        let wanted = totalBytes / 10
        return wanted - min(wanted, availableBytes)
    }
}

/// Reports available memory.
package protocol MemoryPressureSource: Sendable {
    /// The current reading. Blocks at most to read a few small files.
    func read() -> MemoryReading
}

/// Reads the memory of this machine and of this process's control groups.
package struct SystemMemoryPressure: MemoryPressureSource {
    private let contents: @Sendable (String) -> String?

    /// Reads the system's files.
    package init() { self.init(contents: SystemFile.contents) }

    /// Reads other texts, by the path of the file.
    init(contents: @escaping @Sendable (String) -> String?) { self.contents = contents }

    /// The available memory in bytes; `nil` if unknown.
    package static func available() -> UInt64? { SystemMemoryPressure().read().availableBytes }

    package func read() -> MemoryReading {
        let machine = Self.table(contents("/proc/meminfo") ?? "", separator: ":")
        var available = machine["MemAvailable"].map { $0 > .max / 1024 ? .max : $0 * 1024 }
        var total = machine["MemTotal"].map { $0 > .max / 1024 ? .max : $0 * 1024 }
        for group in ControlGroup.memoryGroups(contents: contents) {
            guard let limit = group.limit else { continue }
            total = Swift.min(total ?? limit, limit)
            guard let used = group.used else { continue }
            // The system frees its file cache before a process lacks memory.
            let needed = used - Swift.min(used, group.reclaimable ?? 0)
            let left = limit - Swift.min(limit, needed)
            available = Swift.min(available ?? left, left)
        }
        return MemoryReading(
            availableBytes: available, totalBytes: total,
            stalledShare: Self.stalledShare(contents("/proc/pressure/memory") ?? ""))
    }

    /// Parses the lines `name: number …` of a table.
    private static func table(_ text: String, separator: Character) -> [String: UInt64] {
        var table: [String: UInt64] = [:]
        for line in text.split(separator: "\n") {
            let words = line.split(whereSeparator: { $0 == " " || $0 == separator || $0 == "\t" })
            if words.count >= 2, let number = UInt64(words[1]) { table[String(words[0])] = number }
        }
        return table
    }

    /// Parses `avg10` of the line `some avg10=0.00 avg60=…` as a share.
    private static func stalledShare(_ text: String) -> Double? {
        guard let line = text.split(separator: "\n").first(where: { $0.hasPrefix("some ") }) else { return nil }
        guard let word = line.split(separator: " ").first(where: { $0.hasPrefix("avg10=") }) else { return nil }
        guard let percent = Double(word.dropFirst(6)), (0...100).contains(percent) else { return nil }
        return percent / 100
    }
}
