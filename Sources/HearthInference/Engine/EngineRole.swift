/// What a model is loaded for. Each role has a model of its own, and its own memory of what was said.
public enum EngineRole: String, Sendable, Hashable, Codable, CaseIterable {
    case text, vision
}
