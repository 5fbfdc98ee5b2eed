import Foundation

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// The time since this machine was started.
public enum SystemBoot {
    /// Names this boot, differently from every other one; empty where the system does not say.
    public static let identity: String = look()

    #if canImport(Darwin)
        private static func look() -> String {
            var buffer = [CChar](repeating: 0, count: 64)
            var size = buffer.count
            guard sysctlbyname("kern.bootsessionuuid", &buffer, &size, nil, 0) == 0 else { return "" }
            return String(decoding: buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        }
    #else
        private static func look() -> String {
            let descriptor = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC)
            guard descriptor >= 0 else { return "" }
            defer { close(descriptor) }
            var buffer = [UInt8](repeating: 0, count: 64)
            let count = read(descriptor, &buffer, buffer.count)
            return String(decoding: buffer.prefix(max(0, count)), as: UTF8.self)
                .trimmingCharacters(in: .whitespacesAndNewlines)
        }
    #endif
}
