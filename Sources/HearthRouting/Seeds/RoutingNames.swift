/// The cloud model of seed 001.
public typealias CloudLLMService = CloudEngine
