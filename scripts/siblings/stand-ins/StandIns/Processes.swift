// What Darwin's sysctl tells about processes and the boot, read from Linux's /proc.
import Foundation
import Glibc

public let CTL_KERN: Int32 = 1
public let KERN_PROC: Int32 = 14
public let KERN_PROC_PID: Int32 = 1
public let SRUN: Int8 = 2
public let SZOMB: Int8 = 5

public struct extern_proc {
    public struct Start { public var __p_starttime = timeval() }
    public var p_un = Start()
    public var p_stat: Int8 = 0
    public init() {}
}

public struct kinfo_proc {
    public var kp_proc = extern_proc()
    public init() {}
}

/// The words of `/proc/<pid>/stat` after the program's name; `nil` for a process that does not exist.
private func words(of process: Int32) -> [Substring]? {
    guard let file = FileHandle(forReadingAtPath: "/proc/\(process)/stat"), let data = try? file.readToEnd() else {
        return nil
    }
    let text = String(decoding: data, as: UTF8.self)
    return text.lastIndex(of: ")").map { text[text.index(after: $0)...].split(separator: " ") }
}

/// Answers `KERN_PROC_PID`. For a process that does not exist the size becomes 0, as on Darwin.
public func sysctl(
    _ name: UnsafeMutablePointer<Int32>!, _ count: UInt32, _ old: UnsafeMutableRawPointer!,
    _ size: UnsafeMutablePointer<Int>!, _ new: UnsafeMutableRawPointer!, _ newSize: Int
) -> Int32 {
    guard count == 4, name[0] == CTL_KERN, name[1] == KERN_PROC, name[2] == KERN_PROC_PID,
        size.pointee >= MemoryLayout<kinfo_proc>.stride
    else {
        errno = EINVAL
        return -1
    }
    guard let words = words(of: name[3]), words.count > 19, let ticks = Int(words[19]) else {
        size.pointee = 0
        return 0
    }
    var facts = kinfo_proc()
    facts.kp_proc.p_stat = ["Z", "X", "x"].contains(words[0]) ? SZOMB : SRUN
    facts.kp_proc.p_un.__p_starttime = timeval(tv_sec: ticks / 100, tv_usec: ticks % 100 * 10_000)
    old.storeBytes(of: facts, as: kinfo_proc.self)
    size.pointee = MemoryLayout<kinfo_proc>.stride
    return 0
}

/// Answers `kern.bootsessionuuid`.
public func sysctlbyname(
    _ name: UnsafePointer<CChar>!, _ old: UnsafeMutableRawPointer!, _ size: UnsafeMutablePointer<Int>!,
    _ new: UnsafeMutableRawPointer!, _ newSize: Int
) -> Int32 {
    guard String(cString: name) == "kern.bootsessionuuid",
        let file = FileHandle(forReadingAtPath: "/proc/sys/kernel/random/boot_id"), let data = try? file.readToEnd(),
        data.count < size.pointee
    else {
        errno = ENOENT
        return -1
    }
    let bytes = data.filter { $0 != UInt8(ascii: "\n") } + [0]
    old.copyMemory(from: Array(bytes), byteCount: bytes.count)
    size.pointee = bytes.count
    return 0
}
