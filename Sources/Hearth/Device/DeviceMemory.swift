import Foundation
import HearthBase

/// How much memory a process on this device may have.
public struct DeviceMemory: Sendable, Hashable {
    /// The bytes built in.
    public var physical: UInt64
    /// The bytes this process's control group may use, `nil` without a limit.
    public var limit: UInt64?

    /// The smaller of the two: what a model has to fit into.
    public var usable: UInt64 { min(physical, limit ?? .max) }

    /// The given figures.
    public init(physical: UInt64, limit: UInt64? = nil) {
        self.physical = physical
        self.limit = limit
    }

    /// This device's figures. Blocks for the reading of a few small files.
    public static func read() -> DeviceMemory {
        #if os(Linux)
            let limit = ControlGroup.memoryLimit { path in
                // A file that is not there sets no limit.
                try? String(contentsOfFile: path, encoding: .utf8)
            }
        #else
            let limit: UInt64? = nil
        #endif
        return DeviceMemory(physical: ProcessInfo.processInfo.physicalMemory, limit: limit)
    }
}

/// The memory limits of Linux control groups (cgroups(7)), version 1 and 2.
enum ControlGroup {
    /// The smallest limit of this process's groups and those above them.
    /// - Parameter contents: the text of a file, `nil` when it cannot be read.
    static func memoryLimit(contents: (String) -> String?) -> UInt64? {
        var limits: [UInt64] = []
        for line in (contents("/proc/self/cgroup") ?? "").split(separator: "\n") {
            // hierarchy-ID:controller-list:cgroup-path
            let fields = line.split(separator: ":", maxSplits: 2, omittingEmptySubsequences: false)
            guard fields.count == 3 else { continue }
            let controllers = fields[1].split(separator: ",")
            let (root, file): (String, String)
            if fields[0] == "0" && controllers.isEmpty {
                (root, file) = ("/sys/fs/cgroup", "memory.max")
            } else if controllers.contains("memory") {
                (root, file) = ("/sys/fs/cgroup/memory", "memory.limit_in_bytes")
            } else {
                continue
            }
            var names = fields[2].split(separator: "/").filter { $0 != ".." && $0 != "." }
            while true {
                let path = ([root] + names.map(String.init) + [file]).joined(separator: "/")
                if let limit = contents(path).flatMap(bytes) { limits.append(limit) }
                if names.popLast() == nil { break }
            }
        }
        return limits.min()
    }

    /// A limit as the kernel writes it; version 1 shows "no limit" as a number near 2^63.
    private static func bytes(_ text: String) -> UInt64? {
        guard let value = UInt64(text.trimmingCharacters(in: .whitespacesAndNewlines)) else { return nil }
        return value > 0 && value < 1 << 60 ? value : nil
    }
}
