import Foundation

#if canImport(Darwin)
import Darwin
#endif

/// The time since this machine was started.
package enum SystemBoot {
    /// The identity of this boot, different from every other one; empty if the system does not report it.
    package static let identity: String = look()

    #if canImport(Darwin)
    private static func look() -> String {
        var buffer = [CChar](repeating: 0, count: 64)
        var size = buffer.count
        guard sysctlbyname("kern.bootsessionuuid", &buffer, &size, nil, 0) == 0 else { return "" }
        return String(decoding: buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
    #else
    private static func look() -> String {
        SystemFile.contents("/proc/sys/kernel/random/boot_id")?.trimmingCharacters(in: .whitespacesAndNewlines)
            ?? ""
    }
    #endif
}
