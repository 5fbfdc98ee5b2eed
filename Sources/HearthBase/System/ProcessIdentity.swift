import Foundation

/// The identity of a process, different from that of every other process with the same number.
package struct ProcessIdentity: Sendable, Hashable, Codable {
    package let number: Int32
    /// The start time of the process, in the system's own unit; empty if the system does not report it.
    package let started: String
    /// The boot of the machine; empty if the system does not report it.
    package let boot: String
    /// The namespace of the number: two containers on one machine number their processes separately.
    package let space: String

    /// Makes an identity.
    package init(number: Int32, started: String, boot: String, space: String) {
        self.number = number
        self.started = started
        self.boot = boot
        self.space = space
    }

    /// This process.
    package static let current = ProcessIdentity(
        number: getpid(), started: Look.start(of: getpid()) ?? "", boot: Look.boot(), space: Look.space())

    /// Whether the process still runs; `nil` if this process cannot determine it: the other is of another machine, boot
    /// or container.
    package var isRunning: Bool? {
        let here = Self.current
        guard !here.boot.isEmpty, boot == here.boot, space == here.space, number > 0 else { return nil }
        // Signal 0 only checks. For processes of other users the call fails with EPERM.
        if kill(number, 0) != 0 && errno == ESRCH { return false }
        guard let now = Look.start(of: number) else { return !Look.isEnded(number) }
        return started.isEmpty || now == started
    }
}

/// Facts of the system about processes.
private enum Look {
    #if canImport(Darwin)
    static func start(of process: Int32) -> String? {
        guard let facts = facts(of: process), facts.p_stat != SZOMB else { return nil }
        return "\(facts.p_un.__p_starttime.tv_sec).\(facts.p_un.__p_starttime.tv_usec)"
    }

    static func isEnded(_ process: Int32) -> Bool { facts(of: process).map { $0.p_stat == SZOMB } ?? false }

    private static func facts(of process: Int32) -> extern_proc? {
        var facts = kinfo_proc()
        var size = MemoryLayout<kinfo_proc>.stride
        var name: [Int32] = [CTL_KERN, KERN_PROC, KERN_PROC_PID, process]
        guard sysctl(&name, UInt32(name.count), &facts, &size, nil, 0) == 0, size > 0 else { return nil }
        return facts.kp_proc
    }

    static func boot() -> String {
        var buffer = [CChar](repeating: 0, count: 64)
        var size = buffer.count
        guard sysctlbyname("kern.bootsessionuuid", &buffer, &size, nil, 0) == 0 else { return "" }
        return String(decoding: buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    static func space() -> String { "" }
    #else
    /// The 22nd word of `/proc/<pid>/stat`, in clock ticks since the boot; `nil` for an ended or hidden process.
    static func start(of process: Int32) -> String? {
        guard let words = words(of: process), words.count > 19, !isEnded(state: words[0]) else { return nil }
        return String(words[19])
    }

    /// Whether the process has ended and its parent has not yet waited for it.
    static func isEnded(_ process: Int32) -> Bool { words(of: process)?.first.map(isEnded(state:)) ?? false }

    private static func isEnded(state: Substring) -> Bool { ["Z", "X", "x"].contains(state) }

    /// The words from the third on. The second, the program's name in brackets, may contain any characters.
    private static func words(of process: Int32) -> [Substring]? {
        guard let text = SystemFile.contents("/proc/\(process)/stat"), let bracket = text.lastIndex(of: ")") else {
            return nil
        }
        return text[text.index(after: bracket)...].split(separator: " ")
    }

    static func boot() -> String {
        let text = SystemFile.contents("/proc/sys/kernel/random/boot_id")
        return text?.trimmingCharacters(in: .whitespacesAndNewlines) ?? ""
    }

    static func space() -> String {
        var buffer = [CChar](repeating: 0, count: 64)
        let count = readlink("/proc/self/ns/pid", &buffer, buffer.count)
        guard count > 0 else { return "" }
        return String(decoding: buffer.prefix(count).map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
    #endif
}
