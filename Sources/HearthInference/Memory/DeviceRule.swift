/// The default context and history for a device's memory.
///
/// | memory, in whole GiB | context | history |
/// | --- | --- | --- |
/// | less than 6 | 4096 tokens | 20 messages |
/// | 6 or more | 8192 tokens | 50 messages |
package struct DeviceRule: Sendable, Hashable {
    /// The context window in tokens.
    package let contextLength: Int
    /// The most messages of history in a prompt.
    package let historyLimit: Int
    /// Whether a text and a vision model are never loaded at the same time.
    package let isSmall: Bool

    /// The rule for a device's memory in bytes, rounded down to whole GiB.
    package init(deviceMemory: UInt64) {
        isSmall = deviceMemory >> 30 < 6
        contextLength = isSmall ? 4096 : 8192
        historyLimit = isSmall ? 20 : 50
    }
}
