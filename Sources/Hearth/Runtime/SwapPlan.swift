import HearthBase

/// The order in which two versions of a model are swapped.
public enum SwapOrder: Sendable, Hashable {
    /// Load the new engine beside the old one, so that no request waits; both need memory for a while.
    case loadThenDrop
    /// Unload the old engine after its last lease; new requests wait until the new one is loaded.
    case dropThenLoad
}

/// Chooses the order of a swap by the free memory.
public struct SwapPlan: Sendable, Hashable {
    /// The memory of the new engine, in bytes.
    public var neededBytes: UInt64
    /// The free memory with the old engine loaded, in bytes; `nil` if unknown.
    public var freeBytes: UInt64?
    /// The cache's remaining budget with the old engine loaded, in bytes.
    public var budgetBytes: UInt64

    /// A plan with the given values.
    public init(neededBytes: UInt64, freeBytes: UInt64?, budgetBytes: UInt64 = .max) {
        self.neededBytes = neededBytes
        self.freeBytes = freeBytes
        self.budgetBytes = budgetBytes
    }

    /// The memory to keep free beside both engines: an eighth of the new one, as contexts grow during use.
    var reserve: UInt64 { neededBytes / 8 }

    /// Loads both if they fit. Unknown free memory counts as enough: if the load fails, the old engine serves on.
    public var order: SwapOrder {
        let wanted = neededBytes.addingSaturating(reserve)
        guard neededBytes <= budgetBytes, wanted <= freeBytes ?? .max else { return .dropThenLoad }
        return .loadThenDrop
    }
}
