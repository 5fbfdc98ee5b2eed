/// The memory of the GPU that layers are placed on, or of several together.
public struct GPUMemory: Sendable, Hashable {
    /// The bytes that are free, 0 without a GPU.
    public var free: UInt64
    /// Whether it is the machine's own: what lies there then takes of what the process may have.
    public var isShared: Bool

    /// The given memory.
    public init(free: UInt64, isShared: Bool = false) {
        self.free = free
        self.isShared = isShared
    }

    /// No GPU.
    public static let none = GPUMemory(free: 0)
}
