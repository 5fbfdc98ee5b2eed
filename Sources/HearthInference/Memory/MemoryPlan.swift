import HearthBase

/// Decides before a download or load how a model is loaded so that it fits the device.
///
/// The plan starts with the longest context up to ``longestContext`` with which the model takes at most half of the
/// memory for it, or on small devices with that of the rule (``DeviceRule``). If that does not fit, it tries a smaller cache type
/// unless flash attention is off, then a shorter context down to ``smallestContext``. If that does not fit either, the plan
/// is refused with the numbers. Layers are placed on a GPU as far as its memory holds them and their part of the cache. If
/// the GPU has its own memory, the machine's memory holds the rest.
package struct MemoryPlan: Sendable, Hashable {
    /// The memory of a device.
    package struct Device: Sendable, Hashable {
        /// The bytes a process may use: the smaller of the installed memory and the control group's limit.
        package var memory: UInt64
        /// The memory of the GPU.
        package var gpu: GPUMemory
        /// The bytes of models that stay loaded beside this one.
        package var occupied: UInt64

        /// The given memory.
        package init(memory: UInt64, gpu: GPUMemory = .none, occupied: UInt64 = 0) {
            self.memory = memory
            self.gpu = gpu
            self.occupied = occupied
        }

        /// The bytes for this model: the memory without an eighth, at least 256 MiB, for everything else, and without the
        /// bytes of other models.
        package var budget: UInt64 {
            let models = memory - min(memory, max(256 << 20, memory / 8))
            return models - min(models, occupied)
        }
    }

    /// The settings of a plan.
    package struct Settings: Sendable, Hashable {
        /// The context in tokens, `nil` for the choice of the plan. A configured context is never shortened.
        package var contextLength: Int?
        /// The tokens of all conversations together, `nil` for the length of the context.
        package var cells: Int?
        /// The type of the cache, `nil` for the best that fits.
        package var cacheType: CacheType?
        /// Off, attention needs memory for its scores; a configured smaller cache type switches it on in any case. The
        /// plan switches `automatic` off if ``MemoryPlan/decodesFasterWithoutFlashAttention(_:on:settings:)`` is true
        /// and the scores fit.
        package var flashAttention: FlashAttention
        /// The most tokens of one call.
        package var batchSize: Int
        /// The conversations side by side.
        package var sequences: Int
        /// The answers that are usually computed at the same time.
        package var streams: Int
        /// The bytes of a projector (``ProjectorShape/bytes``), 0 without one.
        package var projector: UInt64
        /// The most layers to place on a GPU, `nil` for as many as fit.
        package var gpuLayers: Int?

        /// Makes settings: one conversation by default, and the rest by the device's rule.
        package init(
            contextLength: Int? = nil, cells: Int? = nil, cacheType: CacheType? = nil,
            flashAttention: FlashAttention = .automatic, batchSize: Int = 512, sequences: Int = 1, streams: Int = 1,
            projector: UInt64 = 0, gpuLayers: Int? = nil
        ) {
            self.contextLength = contextLength
            self.cells = cells
            self.cacheType = cacheType
            self.flashAttention = flashAttention
            self.batchSize = batchSize
            self.sequences = sequences
            self.streams = streams
            self.projector = projector
            self.gpuLayers = gpuLayers
        }
    }

    /// The context in tokens.
    package let contextLength: Int
    /// The most messages of history in a prompt.
    package let historyLimit: Int
    package let cacheType: CacheType
    /// `off` if the settings or the processor's speed require it; `automatic` if the cache type needs flash attention.
    package let flashAttention: FlashAttention
    /// The layers on the GPU.
    package let gpuLayers: Int
    /// The number of all layers, with the output layer.
    package let layers: Int
    /// The free bytes of the GPU, 0 without one.
    package let gpuMemory: UInt64
    package let estimate: MemoryEstimate
    /// The estimate's bytes in the machine's memory: all of them without a GPU that has its own.
    package let hostBytes: UInt64
    /// The bytes available for the model.
    package let budget: UInt64
    /// The differences from the request or the rule, as sentences for a user.
    package let compromises: [String]

    /// The shortest useful context; for a shorter one no model is loaded.
    package static let smallestContext = 1024
    /// The longest context that the plan itself chooses: agents begin with some 12,000 tokens.
    package static let longestContext = 32_768

    /// Makes a plan.
    /// - Throws: `not-enough-memory` with the needed and the available bytes.
    package init(_ shape: ModelShape, on device: Device, settings: Settings = Settings()) throws(LLMError) {
        let rule = DeviceRule(deviceMemory: device.memory)
        let trained = shape.trainedContext > 0 ? shape.trainedContext : .max
        let wanted = min(max(1, settings.contextLength ?? rule.contextLength), trained)
        let budget = device.budget
        func estimate(_ attempt: Attempt) -> MemoryEstimate {
            MemoryEstimate(
                shape, contextLength: max(attempt.context, settings.cells ?? attempt.context), cacheType: attempt.type,
                batchSize: min(settings.batchSize, attempt.context), sequences: settings.sequences,
                projector: settings.projector, flashAttention: attempt.flashAttention)
        }
        var longer: [Int] = []
        if settings.contextLength == nil, !rule.isSmall {
            var length = min(Self.longestContext, trained)
            while length > wanted {
                longer.append(length)
                length /= 2
            }
        }
        var contexts = [wanted]
        while settings.contextLength == nil, let last = contexts.last, last / 2 >= Self.smallestContext {
            contexts.append(last / 2)
        }
        // Eight bits lose next to no quality. Four bits lose some, so they are used only if configured.
        let usual = settings.flashAttention == .off ? [CacheType.f16] : [.f16, .q8]
        var types = (settings.cacheType.map { [$0] } ?? usual).filter { $0.fits(shape) }
        if types.isEmpty { types = [.f16] }
        let most = settings.gpuLayers.map { max(0, $0) } ?? .max
        func place(_ estimate: MemoryEstimate) -> (layers: Int, hostBytes: UInt64) {
            let layers = min(most, Self.gpuLayers(shape, estimate, device.gpu.free))
            return (layers, device.gpu.isShared ? estimate.total : estimate.hostBytes(of: shape, gpuLayers: layers))
        }
        let prefersOff = Self.decodesFasterWithoutFlashAttention(shape, on: device, settings: settings)
        let attempts = (longer + contexts).flatMap { context in
            // No cache shrinks for more than the rule's context.
            (context > wanted ? [types[0]] : types).flatMap { type in
                let choices = prefersOff && type == .f16 ? [FlashAttention.off, .automatic] : [settings.flashAttention]
                return choices.map { Attempt(context: context, type: type, flashAttention: $0) }
            }
        }
        // More than the rule's context is for free only while much of the memory is.
        func room(_ attempt: Attempt) -> UInt64 { attempt.context > wanted ? budget / 2 : budget }
        guard let chosen = attempts.first(where: { place(estimate($0)).hostBytes <= room($0) }) else {
            let last = attempts[attempts.count - 1]
            let hasScores = last.flashAttention == .off && last.type == .f16
            throw Self.refusal(place(estimate(last)), context: last.context, device, hasScores: hasScores)
        }
        let (context, type) = (chosen.context, chosen.type)
        contextLength = context
        historyLimit = context < rule.contextLength ? min(rule.historyLimit, 20) : rule.historyLimit
        cacheType = type
        flashAttention = chosen.flashAttention == .off && type != .f16 ? .automatic : chosen.flashAttention
        self.estimate = estimate(chosen)
        self.budget = budget
        layers = shape.layers.count + 1
        gpuMemory = device.gpu.free
        (gpuLayers, hostBytes) = place(self.estimate)
        var compromises: [String] = []
        if context < wanted { compromises.append("the context is \(context) instead of \(wanted) tokens") }
        if type != (settings.cacheType ?? .f16) { compromises.append("the cache is stored as \(type.rawValue)") }
        if settings.flashAttention == .off, flashAttention != .off {
            compromises.append("flash attention is on, since the cache is stored as \(type.rawValue)")
        }
        self.compromises = compromises
    }

    private struct Attempt {
        let context: Int
        let type: CacheType
        let flashAttention: FlashAttention
    }

    /// The most simultaneous answers that a processor decodes at least 5 % faster without flash attention, at a depth
    /// of 1,000 tokens (benchmark `depths`).
    static let maximumStreamsWithoutFlashAttention = 2

    /// Whether the setting is automatic, and a processor without a GPU decodes few answers with an `f16` cache.
    static func decodesFasterWithoutFlashAttention(_ shape: ModelShape, on device: Device, settings: Settings) -> Bool {
        settings.flashAttention == .automatic && settings.streams <= maximumStreamsWithoutFlashAttention
            && device.gpu == .none && shape.hasCache && shape.heads > 0
    }

    /// The layers that fit on a GPU beside the compute buffers and the projector. The output counts as one more layer.
    private static func gpuLayers(_ shape: ModelShape, _ estimate: MemoryEstimate, _ memory: UInt64) -> Int {
        let count = UInt64(shape.layers.count)
        let others = estimate.compute.addingClamped(estimate.projector)
        guard memory > others, count > 0 else { return 0 }
        let each = max(1, (estimate.weights / (count + 1)).addingClamped(estimate.cache / count))
        return Int(min(count + 1, (memory - others) / each))
    }

    private static func refusal(
        _ placed: (layers: Int, hostBytes: UInt64), context: Int, _ device: Device, hasScores: Bool
    ) -> LLMError {
        let isSplit = placed.layers > 0 && !device.gpu.isShared
        let needed = placed.hostBytes.inMebibytes
        let isAlone = device.occupied == 0
        let beside = isAlone ? "" : " beside the \(device.occupied.inMebibytes) of the other model that is loaded"
        return LLMError(
            .doesNotFit,
            "the model needs \(needed) of memory\(isSplit ? " besides what the GPU holds" : "") with a context of "
                + "\(context) tokens, "
                + "\(device.budget.inMebibytes) of the device's \(device.memory.inMebibytes) are free for it\(beside)",
            context: ErrorContext(
                expected: "at most \(device.budget) bytes", found: "\(placed.hostBytes) bytes",
                remedy: (isAlone ? "Choose" : "Unload the other model, or choose")
                    + " a smaller model or variant, or a shorter context\(hasScores ? ", or switch flash attention on" : "")."
            ))
    }
}
