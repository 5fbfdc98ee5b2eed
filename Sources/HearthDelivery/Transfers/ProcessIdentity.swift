import Foundation
import HearthBase

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// A process, told apart from every other that had its number before or will have it later.
struct ProcessIdentity: Sendable, Hashable {
    let number: Int32
    /// When it started, in the system's own unit; empty where the system does not say.
    let started: String
    /// The boot of the machine it runs in; empty where the system does not say.
    let boot: String
    /// The space its number belongs to: two containers on one machine count their processes apart.
    let space: String

    /// This process.
    static let current = ProcessIdentity(
        number: getpid(), started: Look.start(of: getpid()) ?? "", boot: SystemBoot.identity, space: Look.space())

    /// Whether it still runs, `nil` for a process of another machine, another boot or another container: nobody here can
    /// know.
    var isRunning: Bool? {
        let here = Self.current
        guard !here.boot.isEmpty, boot == here.boot, space == here.space, number > 0 else { return nil }
        // Without a signal: only asks. Processes of other users answer with EPERM.
        if kill(number, 0) != 0 && errno == ESRCH { return false }
        guard let now = Look.start(of: number) else { return !Look.isEnded(number) }
        return started.isEmpty || now == started
    }
}

/// What the system tells of processes.
private enum Look {
    #if canImport(Darwin)
        static func start(of process: Int32) -> String? {
            var facts = kinfo_proc()
            var size = MemoryLayout<kinfo_proc>.stride
            var name: [Int32] = [CTL_KERN, KERN_PROC, KERN_PROC_PID, process]
            guard sysctl(&name, UInt32(name.count), &facts, &size, nil, 0) == 0, size > 0 else { return nil }
            guard facts.kp_proc.p_stat != SZOMB else { return nil }
            let time = facts.kp_proc.p_un.__p_starttime
            return "\(time.tv_sec).\(time.tv_usec)"
        }

        static func isEnded(_ process: Int32) -> Bool {
            var facts = kinfo_proc()
            var size = MemoryLayout<kinfo_proc>.stride
            var name: [Int32] = [CTL_KERN, KERN_PROC, KERN_PROC_PID, process]
            guard sysctl(&name, UInt32(name.count), &facts, &size, nil, 0) == 0, size > 0 else { return false }
            return facts.kp_proc.p_stat == SZOMB
        }

        static func space() -> String { "" }
    #else
        /// The 22nd word of `/proc/<pid>/stat`, in clock ticks since the boot; `nil` for a process that has ended or that
        /// is hidden from us.
        static func start(of process: Int32) -> String? {
            guard let words = words(of: process), words.count > 19, !isEnded(state: words[0]) else { return nil }
            return String(words[19])
        }

        /// Whether it has ended and only waits for its parent to notice.
        static func isEnded(_ process: Int32) -> Bool { words(of: process)?.first.map(isEnded(state:)) ?? false }

        private static func isEnded(state: Substring) -> Bool { ["Z", "X", "x"].contains(state) }

        /// The words from the third on: the second, the program's name in brackets, may hold anything.
        private static func words(of process: Int32) -> [Substring]? {
            guard let text = SystemFile.contents("/proc/\(process)/stat"), let bracket = text.lastIndex(of: ")") else {
                return nil
            }
            return text[text.index(after: bracket)...].split(separator: " ")
        }

        static func space() -> String {
            var buffer = [CChar](repeating: 0, count: 64)
            let count = readlink("/proc/self/ns/pid", &buffer, buffer.count)
            guard count > 0 else { return "" }
            return String(decoding: buffer.prefix(count).map { UInt8(bitPattern: $0) }, as: UTF8.self)
        }
    #endif
}
