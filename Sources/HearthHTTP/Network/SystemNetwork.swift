import HearthBase

/// The network of this device.
package enum SystemNetwork {
    /// The system's monitor. If this package has none for the system, the network counts as online and not metered.
    package static func monitor() -> any NetworkMonitor {
        #if canImport(CGio)
            GIONetworkMonitor()
        #else
            UnmonitoredNetwork()
        #endif
    }
}
