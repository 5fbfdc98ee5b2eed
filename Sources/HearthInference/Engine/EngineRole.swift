/// The purpose of a loaded model. The model of each role has its own memory of conversations.
public enum EngineRole: String, Sendable, Hashable, Codable, CaseIterable {
    case text, vision
}
