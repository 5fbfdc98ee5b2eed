import Foundation
import HearthBase

/// The hardware and system of this device.
package struct DeviceFacts: Sendable, Hashable, Codable {
    /// The system, for example `Debian GNU/Linux 12 (bookworm)`.
    package var operatingSystem: String
    /// The architecture, for example `x86_64`.
    package var architecture: String
    /// The processor's name.
    package var processor: String?
    /// The cores this process may use.
    package var coreCount: Int
    /// The instruction sets relevant to inference, for example `avx2`.
    package var processorFeatures: [String]
    package var memoryBytes: UInt64
    /// The memory limit of the control group, `nil` without one.
    package var memoryLimitBytes: UInt64?

    /// Reads the facts of this device. Blocks to read a few small files.
    package static func read() -> DeviceFacts {
        // Unreadable facts (another system, a sandbox without /proc) are left out.
        let cpu = ProcessorDescription(cpuinfo: SystemFile.contents("/proc/cpuinfo") ?? "")
        let release = SystemFile.contents("/etc/os-release") ?? ""
        let memory = DeviceMemory.read()
        return DeviceFacts(
            operatingSystem: osName(release) ?? ProcessInfo.processInfo.operatingSystemVersionString,
            architecture: architecture, processor: cpu.name,
            coreCount: SystemProcessors.usable, processorFeatures: cpu.features,
            memoryBytes: memory.physical, memoryLimitBytes: memory.limit)
    }

    private static func osName(_ release: String) -> String? {
        let prefix = "PRETTY_NAME="
        return release.split(separator: "\n").first { $0.hasPrefix(prefix) }
            .map { $0.dropFirst(prefix.count).trimmingCharacters(in: CharacterSet(charactersIn: "\"'")) }
    }

    private static var architecture: String {
        var facts = utsname()
        guard uname(&facts) == 0 else { return "unknown" }
        let machine = withUnsafeBytes(of: facts.machine) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
        return machine == "aarch64" ? "arm64" : machine
    }
}

/// The facts of the first processor in `/proc/cpuinfo`.
struct ProcessorDescription: Sendable, Hashable {
    var name: String?
    var features: [String] = []

    /// The flags that ggml has code for, by the kernel's names.
    private static let interesting: Set<String> = [
        "sse3", "ssse3", "sse4_2", "avx", "avx_vnni", "avx2", "f16c", "fma", "bmi2", "avx512f", "avx512bw",
        "avx512_vbmi",
        "avx512_vnni", "avx512_bf16", "amx_tile", "amx_int8", "amx_bf16", "asimd", "asimdhp", "asimddp", "i8mm", "bf16",
        "sve",
        "sve2", "sme",
    ]

    init(cpuinfo: String) {
        for line in cpuinfo.split(separator: "\n", omittingEmptySubsequences: false) {
            if line.isEmpty && name != nil && !features.isEmpty { break }
            let parts = line.split(separator: ":", maxSplits: 1).map { $0.trimmingCharacters(in: .whitespaces) }
            guard parts.count == 2 else { continue }
            switch parts[0] {
            case "model name": name = name ?? parts[1]
            case "flags", "Features":
                if features.isEmpty {
                    features = parts[1].split(separator: " ").map(String.init).filter(Self.interesting.contains)
                }
            default: break
            }
        }
    }
}
