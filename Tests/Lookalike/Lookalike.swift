/// The names that Apple's FoundationModels and HearthInference share, so that a test on any platform meets them together.
public final class LanguageModelSession {
    public init() {}
}

public struct GenerationOptions {
    public init() {}
}

public protocol LanguageModel {}

public protocol Tool {}
