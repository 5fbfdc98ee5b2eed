import Foundation
import HearthBase
import HearthInference

/// Settings for loading a model.
public struct LlamaConfiguration: Sendable, Hashable {
    /// The context window in tokens, at most the model's trained length. `nil` chooses one for the device's memory.
    public var contextLength: Int?
    /// The most tokens of all conversations together, at least the context window. `nil` for as many as one context
    /// window.
    public var cells: Int?
    /// The most tokens one prefill call takes, 1...8192, default 512. Back ends that cannot stop in the middle of a
    /// call get at most 256 tokens in one call.
    public var batchSize: Int
    /// The number of computing threads. `nil` adapts it to the free cores: computing threads spin while they wait
    /// for each other, so a busy core slows all of them.
    public var threadCount: Int?
    /// The most messages of a conversation's history in a prompt. `nil` chooses a number for the device's memory,
    /// or as many as fit if ``contextLength`` is set.
    public var historyLimit: Int?
    /// A chat template (Jinja) in place of the model's own.
    public var chatTemplate: String?
    /// The memory that the process may use, in bytes. The default context depends on it, and models that need more
    /// are refused.
    public var deviceMemory: UInt64
    /// Whether a model is loaded, and makes vectors, even if it needs more memory than the device has. Most
    /// machines then read the weights again and again, or end the process. Default `false`.
    public var ignoresMemory: Bool
    /// Model layers to place on a GPU; negative for as many as its free memory holds.
    public var gpuLayers: Int

    /// The type of the cache's keys and values. Smaller types leave room for a longer context; `q8_0` loses next to
    /// no quality.
    package var cacheType = CacheType.f16
    /// Whether attention is computed with flash attention; `automatic` leaves the choice to the memory plan.
    /// Smaller cache types always switch it on. For vectors and projectors llama.cpp decides.
    package var flashAttention = FlashAttention.automatic
    /// The fewest and most tokens of a picture, for models that offer a choice; `nil` for the limits in the
    /// projector's file.
    package var imageTokens = ImageTokens()
    /// Whether the load reads all weights and fails for one that is NaN or infinite. The probe asks for it.
    package var checksWeights = false
    /// The requests answered side by side; `nil` chooses a number for the model, mostly for one caller at a time.
    /// They share the context's cells, so a single request can use all of them. Requests that do not fit together
    /// wait.
    public var sequences: Int?
    /// The most waiting requests; one more is refused as `busy`. Default 64.
    public var queueLimit: Int
    /// The folder for the computed states of conversations that have no place in the context. There they outlive
    /// the model and the process, and contain the conversations' text. `nil`, the default, keeps some states in
    /// memory while the model is loaded.
    public var stateFolder: Path?
    /// The most bytes of all kept states, with those of other models in the same folder. A larger single state is
    /// not kept. 0 keeps none and leaves a folder unchanged. `nil` is 1 GiB in a folder; in memory it is a
    /// thirty-second of the device's memory, at most 1 GiB. States in memory also never exceed the memory that
    /// the loaded models leave free.
    public var stateBytes: UInt64?

    /// The folder for the computed states of the app's instructions, of this model alone. They hold nothing that a person
    /// said, and make the first answer of the next process begin sooner. `nil` keeps none.
    package var instructionFolder: Path?
    /// The most bytes of the states in ``instructionFolder``.
    package static let instructionBytes: UInt64 = 128 << 20

    /// Makes a configuration whose defaults suit the machine.
    /// - Parameter deviceMemory: the bytes the process may use; `nil` for the smaller of the installed memory and
    ///   the control group's limit, which is read in this call.
    public init(
        contextLength: Int? = nil, cells: Int? = nil, batchSize: Int = 512, threadCount: Int? = nil,
        deviceMemory: UInt64? = nil, gpuLayers: Int = -1,
        historyLimit: Int? = nil, stateFolder: Path? = nil, stateBytes: UInt64? = nil, sequences: Int? = nil,
        queueLimit: Int = 64, chatTemplate: String? = nil, ignoresMemory: Bool = false
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
        self.ignoresMemory = ignoresMemory
    }

    /// The default context of a device, in tokens: 4096 below 6 GiB of memory (whole GiB), 8192 from 6 GiB.
    public static func defaultContextLength(deviceMemory: UInt64) -> Int {
        DeviceRule(deviceMemory: deviceMemory).contextLength
    }

    /// The most messages of history in a prompt.
    var resolvedHistoryLimit: Int? {
        historyLimit ?? (contextLength == nil ? DeviceRule(deviceMemory: deviceMemory).historyLimit : nil)
    }

    /// The context length to request from llama.cpp, given the model's trained length.
    func resolvedContextLength(trained: Int) -> Int {
        let wanted = max(1, contextLength ?? Self.defaultContextLength(deviceMemory: deviceMemory))
        return trained > 0 ? min(wanted, trained) : wanted
    }

    /// Whether values are stored in the order that flash attention reads.
    var hasFlashAttention: Bool { flashAttention != .off || cacheType != .f16 }

    /// The cells to request from llama.cpp, given the context window.
    func resolvedCells(window: Int) -> Int { max(window, cells ?? window) }

    /// The most bytes of states that are kept in memory, if no number is set.
    package static func memoryStateBytes(deviceMemory: UInt64) -> UInt64 { min(1 << 30, deviceMemory / 32) }

    /// The most bytes of kept states.
    var resolvedStateBytes: UInt64 {
        stateBytes ?? (stateFolder == nil ? Self.memoryStateBytes(deviceMemory: deviceMemory) : 1 << 30)
    }

    /// The most bytes of encoded pictures.
    var resolvedPictureBytes: UInt64 { min(256 << 20, deviceMemory / 64) }

    /// The number of sequences to request from llama.cpp.
    /// - Parameter canShare: whether the model keeps one state for each token, so that an unused sequence costs
    ///   nothing. Recurrent layers keep a whole state for each sequence from the beginning.
    func resolvedSequences(canShare: Bool) -> Int {
        min(Self.maximumSequences, max(1, sequences ?? (canShare ? Admission.defaultSequences : 1)))
    }

    /// The most sequences of one context; a machine cannot answer more at once.
    public static let maximumSequences = 64

    /// The largest batch size in use: seed 001's `batchCapacity`.
    public static let batchCapacity = 8192

    /// The batch size to request from llama.cpp.
    var resolvedBatchSize: Int { min(Self.batchCapacity, max(1, batchSize)) }

    /// The most tokens of one call. Only the CPU back end checks llama.cpp's abort callback; calls on other back
    /// ends must be short.
    static func chunkSize(batch: Int, isInterruptible: Bool) -> Int {
        isInterruptible ? batch : min(256, batch)
    }

    /// The layers to place on a GPU; 0 in Apple's simulator, which names its device in the environment and has no GPU that
    /// computes.
    var resolvedGPULayers: Int {
        ProcessInfo.processInfo.environment["SIMULATOR_DEVICE_NAME"] == nil ? gpuLayers : 0
    }

    /// The initial number of threads.
    var resolvedThreadCount: Int { min(512, max(1, threadCount ?? Self.coreCount - 1)) }

    /// The number of cores this process may use.
    static let coreCount = SystemProcessors.usable
}
