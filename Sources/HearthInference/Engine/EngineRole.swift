/// The purpose of a loaded model. Each role has a model of its own, with its own memory of conversations.
public enum EngineRole: String, Sendable, Hashable, Codable, CaseIterable {
    case text, vision
}
