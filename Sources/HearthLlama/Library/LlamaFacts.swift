#if Llama
import CLlama
import HearthInference

/// The version of llama.cpp and the devices it can compute on.
package struct LlamaFacts: Sendable, Hashable, Codable {
    /// A device of one of ggml's back ends.
    package struct Device: Sendable, Hashable, Codable {
        /// The device's name, such as `CPU` or `Vulkan0`.
        package let name: String
        /// The device's description, such as the processor's name.
        package let description: String
        /// The back end that drives it.
        package let backEnd: String
        package let isGPU: Bool
        /// Whether the device uses the machine's own memory.
        package let isIntegrated: Bool
        /// The bytes of the device's memory, 0 if unknown.
        package let memoryBytes: UInt64
        /// The free bytes of the device's memory, 0 if unknown.
        package let freeBytes: UInt64
    }

    package let version: String
    package let devices: [Device]

    /// The memory of the devices that hold layers.
    package var gpuMemory: GPUMemory? { Self.gpuMemory(of: devices) }

    /// The memory of the devices that llama.cpp places layers on: that of all cards together, or of an integrated
    /// device only if there is no card. `nil` without a device, or when a device does not report its memory.
    static func gpuMemory(of devices: [Device]) -> GPUMemory? {
        let own = devices.filter { $0.isGPU && !$0.isIntegrated }
        let used = own.isEmpty ? Array(devices.filter(\.isGPU).prefix(1)) : own
        guard !used.isEmpty, used.allSatisfy({ $0.memoryBytes > 0 }) else { return nil }
        return GPUMemory(
            free: used.reduce(0) { $0 + min($1.freeBytes, 1 << 50) },
            isShared: !used.allSatisfy { !$0.isIntegrated && backEndsOfCards.contains($0.backEnd) })
    }

    /// The back ends whose non-integrated devices have their own memory. Others, such as Metal, also report devices
    /// that share the machine's memory as cards.
    private static let backEndsOfCards: Set = ["CUDA", "ROCm", "MUSA", "SYCL", "Vulkan"]

    /// Loads the back ends and reads their devices. Blocks for some milliseconds, longer while a GPU's driver
    /// starts.
    package static func read() -> LlamaFacts {
        LlamaLibrary.prepare()
        let devices = (0..<ggml_backend_dev_count()).compactMap { index -> Device? in
            guard let device = ggml_backend_dev_get(index) else { return nil }
            var free = 0
            var total = 0
            ggml_backend_dev_memory(device, &free, &total)
            let type = ggml_backend_dev_type(device)
            return Device(
                name: text(ggml_backend_dev_name(device)), description: text(ggml_backend_dev_description(device)),
                backEnd: text(ggml_backend_reg_name(ggml_backend_dev_backend_reg(device))),
                isGPU: type == GGML_BACKEND_DEVICE_TYPE_GPU || type == GGML_BACKEND_DEVICE_TYPE_IGPU,
                isIntegrated: type == GGML_BACKEND_DEVICE_TYPE_IGPU, memoryBytes: UInt64(total),
                freeBytes: UInt64(min(free, total)))
        }
        return LlamaFacts(version: LlamaLibrary.version, devices: devices)
    }

    /// Whether ggml has a device that can hold weights. The list of devices does not change while the process runs.
    static let hasGPU = drivesGPUs && read().devices.contains(where: \.isGPU)

    /// Whether this build has a back end for GPUs. Starts no driver.
    package static var drivesGPUs: Bool { hearth_llama_drives_gpus() }

    private static func text(_ pointer: UnsafePointer<CChar>?) -> String {
        pointer.map { String(cString: $0) } ?? "unknown"
    }
}
#endif
