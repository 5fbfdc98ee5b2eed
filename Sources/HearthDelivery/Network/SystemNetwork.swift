import HearthBase

/// The network of the device this runs on.
public enum SystemNetwork {
    /// The system's own monitor. Where this package has none for the system, every network counts as online and not metered.
    public static func monitor() -> any NetworkMonitor {
        #if canImport(CGio)
            GIONetworkMonitor()
        #else
            UnmonitoredNetwork()
        #endif
    }
}
