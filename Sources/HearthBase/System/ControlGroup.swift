import Foundation

/// The memory and processor limits of Linux control groups (cgroups(7)), versions 1 and 2.
package enum ControlGroup {
    /// The memory of a group of this process, or of a parent group.
    package struct Memory: Sendable, Hashable {
        /// The most memory of the group's processes, in bytes; `nil` without a limit.
        package var limit: UInt64?
        /// The memory in use, with the system's page cache of their files.
        package var used: UInt64?
        /// The part of ``used`` that the system releases before a process lacks memory: cached pages of files, not used
        /// recently.
        package var reclaimable: UInt64?
    }

    /// The smallest limit of this process's groups and their parents.
    /// - Parameter contents: the text of a file, `nil` when it cannot be read.
    package static func memoryLimit(contents: (String) -> String?) -> UInt64? {
        memoryGroups(contents: contents).compactMap(\.limit).min()
    }

    /// The memory of this process's groups and their parents.
    /// - Parameter contents: the text of a file, `nil` when it cannot be read.
    package static func memoryGroups(contents: (String) -> String?) -> [Memory] {
        folders(of: "memory", contents: contents).map { folder, isFirst in
            func number(_ file: String) -> UInt64? { contents("\(folder)/\(file)").flatMap(bytes) }
            let statistics = contents("\(folder)/memory.stat") ?? ""
            let reclaimable = isFirst ? "total_inactive_file " : "inactive_file "
            let line = statistics.split(separator: "\n").first { $0.hasPrefix(reclaimable) }
            return Memory(
                limit: number(isFirst ? "memory.limit_in_bytes" : "memory.max"),
                used: number(isFirst ? "memory.usage_in_bytes" : "memory.current"),
                reclaimable: line.flatMap { UInt64($0.dropFirst(reclaimable.count)) })
        }
    }

    /// The fewest processors that the limits of this process's groups and their parents allow; `nil` without a limit.
    /// - Parameter contents: the text of a file, `nil` when it cannot be read.
    package static func processorLimit(contents: (String) -> String?) -> Double? {
        folders(of: "cpu", contents: contents).compactMap { folder, isFirst in
            // "quota period" or "max period", in microseconds; version 1 shows "no limit" as -1.
            let text =
                isFirst
                ? ["cpu.cfs_quota_us", "cpu.cfs_period_us"].map { contents("\(folder)/\($0)") ?? "" }.joined(
                    separator: " ")
                : contents("\(folder)/cpu.max") ?? ""
            let numbers = text.split(whereSeparator: \.isWhitespace).map { Double($0) }
            guard numbers.count == 2, let quota = numbers[0], let period = numbers[1], quota > 0, period > 0,
                quota.isFinite, period.isFinite
            else { return nil }
            return quota / period
        }.min()
    }

    /// The folders of this process's groups for a controller, with their version.
    private static func folders(of controller: String, contents: (String) -> String?) -> [(path: String, isFirst: Bool)]
    {
        var places: [(String, Bool)] = []
        for line in (contents("/proc/self/cgroup") ?? "").split(separator: "\n") {
            // hierarchy-ID:controller-list:cgroup-path
            let fields = line.split(separator: ":", maxSplits: 2, omittingEmptySubsequences: false)
            guard fields.count == 3 else { continue }
            let controllers = fields[1].split(separator: ",")
            let isFirst = !(fields[0] == "0" && controllers.isEmpty)
            if isFirst && !controllers.contains(Substring(controller)) { continue }
            let root = isFirst ? "/sys/fs/cgroup/\(controller)" : "/sys/fs/cgroup"
            var folders = fields[2].split(separator: "/").filter { $0 != ".." && $0 != "." }
            while true {
                places.append((([root] + folders.map(String.init)).joined(separator: "/"), isFirst))
                if folders.popLast() == nil { break }
            }
        }
        return places
    }

    /// A number in the kernel's format; version 1 writes "no limit" as a number near 2^63.
    private static func bytes(_ text: String) -> UInt64? {
        guard let value = UInt64(text.trimmingCharacters(in: .whitespacesAndNewlines)) else { return nil }
        return value > 0 && value < 1 << 60 ? value : nil
    }
}
