import HearthBase

/// The MLX engine of seed 004, which needs Apple's chips: no build of Hearth has it yet.
public struct MLXService: Sendable {
    /// Makes a service without a model.
    public init() {}

    /// Whether MLX runs here: `false`.
    public var isDeviceSupported: Bool { false }
    /// Whether a model is loaded: `false`.
    public var isModelLoaded: Bool { false }

    /// Loads nothing.
    /// - Throws: `MLXError.deviceNotSupported`.
    public func loadModel(_ configuration: some Sendable) async throws { throw MLXError.deviceNotSupported }
}

/// The error of an MLX model, by its name in seed 004.
public typealias MLXError = LLMError

extension LLMError {
    /// MLX does not run on this device; the code is `engine-missing`.
    public static var deviceNotSupported: LLMError {
        LLMError(
            .engineMissing, "this device cannot run models of MLX",
            context: ErrorContext(remedy: "Choose a GGUF model."), disposition: .usage)
    }
}
