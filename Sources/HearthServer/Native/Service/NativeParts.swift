import Hearth
import HearthBase
import HearthHTTP

/// What the native API takes from the process that serves it.
package struct NativeParts: Sendable {
    /// The version of the program.
    package var version: String
    /// The cloud model of settings.
    package var cloud: @Sendable (Configuration) async -> NativeCloud
    /// Reads the settings again for the whole process, after a change of settings that shape engines or the server.
    package var reload: @Sendable () async -> Void
    /// Uses other settings that leave engines, server and sources as they are.
    package var refresh: @Sendable (Configuration) async -> Void
    /// Tells that a model has answered, so that it stays warm.
    package var used: @Sendable (_ family: String) async -> Void
    /// The address under which browsers reach the process.
    package var address: @Sendable () -> String?
    /// Says on a reminder's card which program rings.
    package var ringing: @Sendable () -> String?
    /// The monitor of the device's network.
    package var network: any NetworkMonitor
    package var time: TimeSource

    package init(
        version: String, network: any NetworkMonitor, time: TimeSource = .system,
        cloud: @escaping @Sendable (Configuration) async -> NativeCloud,
        reload: @escaping @Sendable () async -> Void = {},
        refresh: @escaping @Sendable (Configuration) async -> Void = { _ in },
        used: @escaping @Sendable (String) async -> Void = { _ in },
        address: @escaping @Sendable () -> String? = { nil },
        ringing: @escaping @Sendable () -> String? = { nil }
    ) {
        self.version = version
        self.network = network
        self.time = time
        self.cloud = cloud
        self.reload = reload
        self.refresh = refresh
        self.used = used
        self.address = address
        self.ringing = ringing
    }
}
