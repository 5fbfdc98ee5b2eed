import HearthBase
import HearthInference

/// The memory ledger of all engines of a process: what each takes, as planned, and what is left.
///
/// Engines are loaded one at a time, in ``turn``, so that each is planned with all those before.
package final class EngineMemory: Sendable {
    /// The memory available to this process, in bytes.
    let deviceMemory: UInt64
    /// The part of it for all engines together.
    let budget: UInt64
    /// The load that is planned and carried out now. The probe of a release takes it as well.
    let turn = TurnQueue()
    /// The available memory in bytes, `nil` if unknown. Blocks at most to read a few small files.
    let free: @Sendable () -> UInt64?
    private let engines = Locked<[UInt64: UInt64]>([:])

    /// - Parameter budget: by default, what a memory plan has for models.
    package init(
        deviceMemory: UInt64, budget: UInt64? = nil,
        free: @escaping @Sendable () -> UInt64? = SystemMemoryPressure.available
    ) {
        self.deviceMemory = deviceMemory
        self.budget = budget ?? MemoryPlan.Device(memory: deviceMemory).budget
        self.free = free
    }

    /// Whether text and vision engines are not in memory at the same time.
    var isSmall: Bool { DeviceRule(deviceMemory: deviceMemory).isSmall }

    /// The bytes of all engines that are loading, loaded or unloading.
    package var usedBytes: UInt64 { engines.withLock { Array($0.values) }.saturatedSum }

    /// The bytes of an engine; `nil` for one that is not in memory.
    subscript(number: UInt64) -> UInt64? { engines.withLock { $0[number] } }

    func set(_ bytes: UInt64?, of number: UInt64) { engines.withLock { $0[number] = bytes } }
}
