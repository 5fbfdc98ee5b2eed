#if Llama
    import Foundation
    import HearthBase
    import HearthInference

    /// How a model is loaded.
    public struct LlamaConfiguration: Sendable, Hashable {
        /// The context window in tokens, `nil` for what suits the device's memory; never more than the model was trained with.
        public var contextLength: Int?
        /// The tokens that all conversations computed side by side may have together, `nil` for as many as one context window has;
        /// never fewer than that.
        public var cells: Int?
        /// The most tokens one prefill call takes, 1...8192, default 512. A processor stops in the middle of a call; what
        /// cannot, gets at most 256 tokens at once.
        public var batchSize: Int
        /// The threads that compute, `nil` for as many as the machine has cores for from moment to moment: computing threads spin
        /// while they wait for each other, so a busy core slows all of them.
        public var threadCount: Int?
        /// The most messages of a conversation's history in a prompt; `nil` for what suits the device's memory, and for as many
        /// as fit where the context was chosen.
        public var historyLimit: Int?
        /// A chat template (Jinja) in place of the model's own.
        public var chatTemplate: String?
        /// The memory a process on the device may have, in bytes. The default context follows from it, and what does not fit is
        /// refused.
        public var deviceMemory: UInt64
        /// Whether a model is loaded, and embeds, although it needs more memory than there is: most machines then read its weights
        /// again and again, or end the process. Default `false`.
        public var ignoresMemory: Bool
        /// Model layers to place on a GPU if there is one, negative for as many as its free memory holds.
        public var gpuLayers: Int

        /// How the cache stores keys and values. Smaller types leave room for a longer context; `q8_0` loses next to nothing.
        public var cacheType: CacheType
        /// Whether attention is computed piece by piece; `automatic` leaves it to the memory plan. Smaller types of the cache have it on in any case. Contexts for vectors
        /// and projectors leave it to llama.cpp.
        public var flashAttention: FlashAttention
        /// The fewest and most tokens of a picture, for models that leave a choice; `nil` for what the projector's file says.
        public var imageTokens: ImageTokens
        /// The requests answered side by side, `nil` for what suits the model and for mostly one at a time. They share the
        /// context's cells, so one alone has all of them; those that do not fit beside each other wait.
        public var sequences: Int?
        /// The requests that may wait beside those that are answered; one more is refused as `busy`. Default 64.
        public var queueLimit: Int
        /// Where the computed states of conversations are kept that have no place in the context, so that they also outlive the
        /// model and the process; they hold what was said. `nil`, the default, keeps some in memory while the model is loaded.
        public var stateFolder: Path?
        /// The bytes all kept states may take, those of other models in the same folder among them; a state that is larger by
        /// itself is not kept. 0 for none, which leaves a folder as it is; `nil` for 1 GiB in a folder, and in memory for a
        /// thirty-second of the device's, at most 256 MiB. In memory it is never more than the loaded models leave of it.
        public var stateBytes: UInt64?

        /// Defaults that suit the machine, unless said otherwise.
        /// - Parameter deviceMemory: `nil` for the smaller of what is built in and what the control group allows, which is read now.
        public init(
            contextLength: Int? = nil, cells: Int? = nil, batchSize: Int = 512, threadCount: Int? = nil,
            deviceMemory: UInt64? = nil, gpuLayers: Int = -1,
            historyLimit: Int? = nil, stateFolder: Path? = nil, stateBytes: UInt64? = nil, sequences: Int? = nil,
            queueLimit: Int = 64, chatTemplate: String? = nil, cacheType: CacheType = .f16,
            flashAttention: FlashAttention = .automatic, imageTokens: ImageTokens = ImageTokens(),
            ignoresMemory: Bool = false
        ) {
            self.contextLength = contextLength
            self.cells = cells
            self.batchSize = batchSize
            self.threadCount = threadCount
            self.deviceMemory = deviceMemory ?? SystemMemory.usable
            self.gpuLayers = gpuLayers
            self.historyLimit = historyLimit
            self.stateFolder = stateFolder
            self.stateBytes = stateBytes
            self.sequences = sequences
            self.queueLimit = queueLimit
            self.chatTemplate = chatTemplate
            self.cacheType = cacheType
            self.flashAttention = flashAttention
            self.imageTokens = imageTokens
            self.ignoresMemory = ignoresMemory
        }

        /// The context a device of this memory gets by default: 4096 tokens below 6 GiB (whole GiB), 8192 from there on.
        public static func defaultContextLength(deviceMemory: UInt64) -> Int {
            DeviceRule(deviceMemory: deviceMemory).contextLength
        }

        /// The messages of history to send.
        var resolvedHistoryLimit: Int? {
            historyLimit ?? (contextLength == nil ? DeviceRule(deviceMemory: deviceMemory).historyLimit : nil)
        }

        /// The context to ask for, given the one the model was trained with.
        func resolvedContextLength(trained: Int) -> Int {
            let wanted = max(1, contextLength ?? Self.defaultContextLength(deviceMemory: deviceMemory))
            return trained > 0 ? min(wanted, trained) : wanted
        }

        /// Whether values are stored as flash attention reads them.
        var hasFlashAttention: Bool { flashAttention != .off || cacheType != .f16 }

        /// The cells to ask for beside a context window of this length.
        func resolvedCells(window: Int) -> Int { max(window, cells ?? window) }

        /// The bytes kept states may take.
        var resolvedStateBytes: UInt64 {
            stateBytes ?? (stateFolder == nil ? min(256 << 20, deviceMemory / 32) : 1 << 30)
        }

        /// The bytes encoded pictures may take.
        var resolvedPictureBytes: UInt64 { min(256 << 20, deviceMemory / 64) }

        /// The sequences to ask for.
        /// - Parameter canShare: the model keeps a state for each token, which costs nothing until there is one; recurrent layers
        ///   keep a whole one for each sequence from the beginning.
        func resolvedSequences(canShare: Bool) -> Int {
            min(Self.mostSequences, max(1, sequences ?? (canShare ? Admission.usualSequences : 1)))
        }

        /// The most sequences of one context: more are more than a machine answers at once.
        public static let mostSequences = 64

        /// The highest batch size that is ever used: seed 001's `batchCapacity`.
        public static let batchCapacity = 8192

        /// The batch size to ask for.
        var resolvedBatchSize: Int { min(Self.batchCapacity, max(1, batchSize)) }

        /// The most tokens to compute in one call. Only the CPU back end looks at llama.cpp's abort callback, so elsewhere a
        /// call has to be short.
        static func chunkSize(batch: Int, isInterruptible: Bool) -> Int {
            isInterruptible ? batch : min(256, batch)
        }

        /// The layers to place on a GPU; a simulator has none that computes.
        var resolvedGPULayers: Int {
            #if targetEnvironment(simulator)
                0
            #else
                gpuLayers
            #endif
        }

        /// The number of threads to begin with.
        var resolvedThreadCount: Int { min(512, max(1, threadCount ?? Self.coreCount - 1)) }

        /// The cores this process may use.
        static let coreCount = SystemProcessors.usable
    }
#endif
