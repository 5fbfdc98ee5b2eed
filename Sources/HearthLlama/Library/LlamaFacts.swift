#if Llama
    import CLlama
    import HearthInference

    /// What llama.cpp is and what it can compute on, on this machine.
    package struct LlamaFacts: Sendable, Hashable {
        /// A device of one of ggml's back ends.
        package struct Device: Sendable, Hashable {
            /// Such as `CPU` or `Vulkan0`.
            package let name: String
            /// Such as the processor's name.
            package let description: String
            /// The back end that drives it.
            package let backEnd: String
            package let isGPU: Bool
            /// Whether it uses the machine's own memory.
            package let isIntegrated: Bool
            /// The bytes of its memory, 0 if it does not say.
            package let memoryBytes: UInt64
            /// The bytes of it that are free now, 0 if it does not say.
            package let freeBytes: UInt64
        }

        /// llama.cpp's own version.
        package let version: String
        package let devices: [Device]

        /// The memory of the devices that layers are placed on.
        package var gpuMemory: GPUMemory? { Self.gpuMemory(of: devices) }

        /// The memory of the devices llama.cpp places layers on: of all cards together, and of one that shares the machine's
        /// memory only where there is no card. `nil` where there is none, or one that does not say how much it has.
        static func gpuMemory(of devices: [Device]) -> GPUMemory? {
            let own = devices.filter { $0.isGPU && !$0.isIntegrated }
            let used = own.isEmpty ? Array(devices.filter(\.isGPU).prefix(1)) : own
            guard !used.isEmpty, used.allSatisfy({ $0.memoryBytes > 0 }) else { return nil }
            return GPUMemory(
                free: used.reduce(0) { $0 + min($1.freeBytes, 1 << 50) },
                isShared: !used.allSatisfy { !$0.isIntegrated && backEndsOfCards.contains($0.backEnd) })
        }

        /// The back ends whose devices have memory of their own where they are not integrated; others, such as Metal, call
        /// those cards too that share the machine's.
        private static let backEndsOfCards: Set = ["CUDA", "ROCm", "MUSA", "SYCL", "Vulkan"]

        /// Loads the back ends and asks them. Blocks: some milliseconds, longer where a GPU's driver wakes up.
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

        /// Whether ggml sees a device that weights could be placed on. Devices stay what they are while a process lives.
        static let hasGPU = read().devices.contains(where: \.isGPU)

        private static func text(_ pointer: UnsafePointer<CChar>?) -> String {
            pointer.map { String(cString: $0) } ?? "unknown"
        }
    }
#endif
