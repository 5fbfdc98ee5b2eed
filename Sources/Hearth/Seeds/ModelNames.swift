/// The local model of seed 001.
public typealias LLMService = LiveModel
