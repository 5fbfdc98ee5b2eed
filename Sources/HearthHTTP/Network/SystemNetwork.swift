import HearthBase

/// The network of this device.
public enum SystemNetwork {
    /// The system's monitor. On Linux without GIO the network counts as online and not metered; on other systems without
    /// a monitor it counts as metered, so that downloads there need a permission.
    public static func monitor() -> any NetworkMonitor {
        #if canImport(CGio)
        GIONetworkMonitor()
        #elseif canImport(Network)
        PathNetworkMonitor()
        #elseif os(Linux)
        UnmonitoredNetwork()
        #else
        UnmonitoredNetwork(assuming: NetworkCondition(isOnline: true, isMetered: true))
        #endif
    }
}
