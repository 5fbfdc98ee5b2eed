/// The cloud reader of seed 002, which asks any cloud model of an orchestrator here.
public typealias ClaudeService = CloudCharacterReader
