#if MLX
import HearthBase
import HearthInference

/// Settings for loading a model with MLX.
package struct MLXConfiguration: Sendable, Hashable {
    /// The context window in tokens, at most the model's trained length. `nil` chooses one for the device's memory.
    package var contextLength: Int?
    /// The computing threads, 1...512. `nil` for all cores but one.
    package var threadCount: Int?
    /// The bytes that the process may use; a model that needs more is refused.
    package var deviceMemory: UInt64
    /// Whether a model is loaded even if it needs more memory than the device has. Default `false`.
    package var ignoresMemory = false

    /// Makes a configuration whose defaults suit the machine.
    /// - Parameter deviceMemory: `nil` for the smaller of the installed memory and the control group's limit, which is
    ///   read in this call.
    package init(contextLength: Int? = nil, threadCount: Int? = nil, deviceMemory: UInt64? = nil) {
        self.contextLength = contextLength
        self.threadCount = threadCount
        self.deviceMemory = deviceMemory ?? SystemMemory.usable
    }

    /// The context window of a model.
    func window(trained: Int) -> Int {
        let wanted = max(1, contextLength ?? DeviceRule(deviceMemory: deviceMemory).contextLength)
        return min(wanted, trained)
    }

    var resolvedThreadCount: Int { min(512, max(1, threadCount ?? SystemProcessors.usable - 1)) }

    /// The most messages of history in a prompt.
    var historyLimit: Int? { contextLength == nil ? DeviceRule(deviceMemory: deviceMemory).historyLimit : nil }
}
#endif
