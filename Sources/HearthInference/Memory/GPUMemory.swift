/// The memory of the GPUs that layers are placed on.
package struct GPUMemory: Sendable, Hashable {
    /// The free bytes, 0 without a GPU.
    package var free: UInt64
    /// Whether the GPU uses the machine's memory, so that its layers count towards the memory of the process.
    package var isShared: Bool

    /// The given memory.
    package init(free: UInt64, isShared: Bool = false) {
        self.free = free
        self.isShared = isShared
    }

    /// No GPU.
    package static let none = GPUMemory(free: 0)
}
