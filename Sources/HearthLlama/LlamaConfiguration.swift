#if Llama
    import Foundation

    /// How a model is loaded.
    public struct LlamaConfiguration: Sendable, Hashable {
        /// The context window in tokens, `nil` for what suits the device's memory; never more than the model was trained with.
        public var contextLength: Int?
        /// The most tokens one prefill call takes, 1...; a cancelled prompt ends within one such chunk. Default 512.
        public var batchSize: Int
        /// The threads that compute, `nil` for one less than the machine's cores: computing threads spin while they wait for each
        /// other, so a busy core slows all of them.
        public var threadCount: Int?
        /// The memory of the device in bytes, from which the default context follows.
        public var deviceMemory: UInt64
        /// Model layers to place on a GPU if there is one, negative for all.
        public var gpuLayers: Int

        /// Defaults that suit the machine, unless said otherwise.
        public init(
            contextLength: Int? = nil, batchSize: Int = 512, threadCount: Int? = nil,
            deviceMemory: UInt64 = ProcessInfo.processInfo.physicalMemory, gpuLayers: Int = -1
        ) {
            self.contextLength = contextLength
            self.batchSize = batchSize
            self.threadCount = threadCount
            self.deviceMemory = deviceMemory
            self.gpuLayers = gpuLayers
        }

        /// The context a device of this memory gets by default: 4096 tokens below 6 GiB (whole GiB), 8192 from there on.
        public static func defaultContextLength(deviceMemory: UInt64) -> Int {
            deviceMemory >> 30 < 6 ? 4096 : 8192
        }

        /// The context to ask for, given the one the model was trained with.
        func resolvedContextLength(trained: Int) -> Int {
            let wanted = max(1, contextLength ?? Self.defaultContextLength(deviceMemory: deviceMemory))
            return trained > 0 ? min(wanted, trained) : wanted
        }

        /// The number of threads to use.
        var resolvedThreadCount: Int {
            min(512, max(1, threadCount ?? ProcessInfo.processInfo.activeProcessorCount - 1))
        }
    }
#endif
