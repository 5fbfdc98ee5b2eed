/// The memory of the GPU that layers are placed on, or of several together.
package struct GPUMemory: Sendable, Hashable {
    /// The bytes that are free, 0 without a GPU.
    package var free: UInt64
    /// Whether it is a part of the machine's memory, so that layers on it count towards the memory of the process.
    package var isShared: Bool

    /// The given memory.
    package init(free: UInt64, isShared: Bool = false) {
        self.free = free
        self.isShared = isShared
    }

    /// No GPU.
    package static let none = GPUMemory(free: 0)
}
