/// In which order two versions of a model change places.
public enum SwapOrder: Sendable, Hashable {
    /// The new one is loaded beside the old one, and nobody waits; for a while both take memory.
    case loadThenDrop
    /// The old one goes first, once nobody uses it, and new requests wait until the new one is there.
    case dropThenLoad
}

/// Chooses the order of a swap by the memory there is.
public struct SwapPlan: Sendable, Hashable {
    /// What the new engine takes, in bytes.
    public var neededBytes: UInt64
    /// What is free now, in bytes, with the old engine still there; `nil` where the system does not say.
    public var freeBytes: UInt64?
    /// What the cache may still hold beside the old engine, in bytes.
    public var budgetBytes: UInt64

    /// A plan from the given figures.
    public init(neededBytes: UInt64, freeBytes: UInt64?, budgetBytes: UInt64 = .max) {
        self.neededBytes = neededBytes
        self.freeBytes = freeBytes
        self.budgetBytes = budgetBytes
    }

    /// What has to stay free beside both engines: an eighth of the new one, as a context grows while it is used.
    var reserve: UInt64 { neededBytes / 8 }

    /// Both at once if they fit. A system that does not say what is free is taken to have enough: should it not, the load
    /// fails and the old one serves on.
    public var order: SwapOrder {
        let wanted = neededBytes.addingSaturating(reserve)
        guard neededBytes <= budgetBytes, wanted <= freeBytes ?? .max else { return .dropThenLoad }
        return .loadThenDrop
    }
}
