import HearthInference

/// Decides which roles may be loaded side by side and whose model answers for a role, without effects.
struct RolePlan: Sendable, Hashable {
    /// The bytes the models share.
    let deviceMemory: UInt64

    /// The whole GiB below which two models do not fit (seed 001).
    static let roomForTwo: UInt64 = 6

    /// The roles whose models are unloaded before a load, the replaced one last.
    func unloadedFirst(loading role: EngineRole, loaded: Set<EngineRole>) -> [EngineRole] {
        var roles: [EngineRole] = []
        if role == .vision, loaded.contains(.text), deviceMemory >> 30 < Self.roomForTwo { roles.append(.text) }
        if loaded.contains(role) { roles.append(role) }
        return roles
    }

    /// The role whose model answers. The model for text answers for vision if it reads pictures and no vision model
    /// is loaded.
    static func answering(_ role: EngineRole, loaded: Set<EngineRole>, textModelSupportsVision: Bool) -> EngineRole? {
        if loaded.contains(role) { return role }
        return role == .vision && textModelSupportsVision && loaded.contains(.text) ? .text : nil
    }
}
