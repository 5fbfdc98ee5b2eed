import HearthBase

/// How much memory is left, as the system tells.
public struct MemoryReading: Sendable, Hashable {
    /// What could be taken now without anything being pushed out, in bytes.
    public var availableBytes: UInt64?
    /// What there is in all, in bytes.
    public var totalBytes: UInt64?
    /// The share of the last ten seconds in which some work stood still for want of memory, 0...1 (Linux calls this pressure
    /// stall information).
    public var stalledShare: Double?

    /// A reading of the given figures; `nil` where the system does not say.
    public init(availableBytes: UInt64? = nil, totalBytes: UInt64? = nil, stalledShare: Double? = nil) {
        self.availableBytes = availableBytes
        self.totalBytes = totalBytes
        self.stalledShare = stalledShare
    }

    /// Work that stands still for a tenth of the time is felt by the person in front of it.
    static let stallLimit = 0.1

    /// What idle engines should give back now, in bytes: enough for a tenth of the memory to be free, and everything while
    /// work stands still.
    public var shortage: UInt64 {
        if let stalledShare, stalledShare >= Self.stallLimit { return .max }
        guard let availableBytes, let totalBytes else { return 0 }
        let wanted = totalBytes / 10
        return wanted - min(wanted, availableBytes)
    }
}

/// Says how much memory is left.
public protocol MemoryPressureSource: Sendable {
    /// A reading now. Blocks at most for the reading of a few small files.
    func read() -> MemoryReading
}

extension ModelCache {
    /// Gives idle engines up if memory is short now. An engine with a lease stays, however short it is.
    /// - Returns: when to look again.
    public func giveWay(to source: any MemoryPressureSource) async -> Duration {
        do {
            let shortage = try await blocking { source.read().shortage }
            if shortage > 0 { dropIdle(shortage) }
        } catch {
            Log.write(.error, "delivery.live", "\(error)")  // reading throws nothing
        }
        return .seconds(2)
    }
}

/// The memory of this machine and of the control groups this process is in.
public struct SystemMemory: MemoryPressureSource {
    private let contents: @Sendable (String) -> String?

    /// The system's own figures.
    public init() { self.init(contents: SystemFile.contents) }

    /// The same from other texts, by the path of the file.
    init(contents: @escaping @Sendable (String) -> String?) { self.contents = contents }

    /// The bytes that could be taken now; `nil` where the system does not say.
    public static func available() -> UInt64? { SystemMemory().read().availableBytes }

    public func read() -> MemoryReading {
        let machine = Self.table(contents("/proc/meminfo") ?? "", separator: ":")
        var available = machine["MemAvailable"].map { $0 > .max / 1024 ? .max : $0 * 1024 }
        var total = machine["MemTotal"].map { $0 > .max / 1024 ? .max : $0 * 1024 }
        for group in ControlGroup.memoryGroups(contents: contents) {
            guard let limit = group.limit else { continue }
            total = Swift.min(total ?? limit, limit)
            guard let used = group.used else { continue }
            // The system gives its copies of files back before anybody goes without.
            let needed = used - Swift.min(used, group.reclaimable ?? 0)
            let left = limit - Swift.min(limit, needed)
            available = Swift.min(available ?? left, left)
        }
        return MemoryReading(
            availableBytes: available, totalBytes: total,
            stalledShare: Self.stalledShare(contents("/proc/pressure/memory") ?? ""))
    }

    /// The lines `name: number …` of a table.
    private static func table(_ text: String, separator: Character) -> [String: UInt64] {
        var table: [String: UInt64] = [:]
        for line in text.split(separator: "\n") {
            let words = line.split(whereSeparator: { $0 == " " || $0 == separator || $0 == "\t" })
            if words.count >= 2, let number = UInt64(words[1]) { table[String(words[0])] = number }
        }
        return table
    }

    /// The `avg10` of the line `some avg10=0.00 avg60=…`, as a share.
    private static func stalledShare(_ text: String) -> Double? {
        guard let line = text.split(separator: "\n").first(where: { $0.hasPrefix("some ") }) else { return nil }
        guard let word = line.split(separator: " ").first(where: { $0.hasPrefix("avg10=") }) else { return nil }
        guard let percent = Double(word.dropFirst(6)), (0...100).contains(percent) else { return nil }
        return percent / 100
    }
}
