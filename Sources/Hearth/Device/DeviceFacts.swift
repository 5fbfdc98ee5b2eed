import Foundation
import HearthBase

/// What this device offers to models.
public struct DeviceFacts: Sendable, Hashable, Codable {
    /// Such as `Debian GNU/Linux 12 (bookworm)`.
    public var operatingSystem: String
    /// Such as `x86_64`.
    public var architecture: String
    /// The processor's own name.
    public var processor: String?
    /// Cores this process may use.
    public var coreCount: Int
    /// The instruction sets that matter to inference, such as `avx2`.
    public var processorFeatures: [String]
    public var memoryBytes: UInt64
    /// The control group's limit, `nil` without one.
    public var memoryLimitBytes: UInt64?

    /// What can be read of this device. Blocks for the reading of a few small files.
    public static func read() -> DeviceFacts {
        // What cannot be read (another system, a sandbox without /proc) is left out: these are facts for people.
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
        #if arch(x86_64)
            "x86_64"
        #elseif arch(arm64)
            "arm64"
        #else
            "other"
        #endif
    }
}

/// What `/proc/cpuinfo` says of the first processor.
struct ProcessorDescription: Sendable, Hashable {
    var name: String?
    var features: [String] = []

    /// The flags ggml has code for, by the kernel's names.
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
