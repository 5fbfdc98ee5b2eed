import HearthBase

/// The network of this device.
public enum SystemNetwork {
    /// The system's monitor: GIO on Linux, `NWPathMonitor` on Apple platforms.
    public static func monitor() -> any NetworkMonitor {
        #if canImport(CGio)
        GIONetworkMonitor()
        #else
        PathNetworkMonitor()
        #endif
    }
}
