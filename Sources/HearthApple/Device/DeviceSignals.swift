#if canImport(Darwin)
import Dispatch
import Foundation
import HearthBase
import os

#if canImport(UIKit)
import UIKit
#endif

extension DeviceWatch {
    /// Watches this device. An app makes one when it starts, before it loads a model.
    public convenience init() { self.init(.device) }
}

extension DeviceWatch.Signals {
    fileprivate static var device: Self {
        var signals = Self()
        #if os(iOS) || os(tvOS) || os(visionOS)
        // The limit of an app is what it may take at its start.
        let limit = UInt64(os_proc_available_memory())
        signals.available = {
            let available = UInt64(os_proc_available_memory())
            // The simulator has no limit.
            return available > 0 ? available : nil
        }
        signals.total = { limit > 0 ? limit : nil }
        #endif
        signals.conditions = {
            let process = ProcessInfo.processInfo
            let heat: DeviceHeat =
                switch process.thermalState {
                case .nominal: .nominal
                case .fair: .fair
                case .serious: .serious
                case .critical: .critical
                @unknown default: .serious
                }
            return DeviceConditions(heat: heat, isLowPower: process.isLowPowerModeEnabled)
        }
        signals.listen = { warning, change in
            let observers = Observers()
            observers.add(ProcessInfo.thermalStateDidChangeNotification, change)
            observers.add(.NSProcessInfoPowerStateDidChange, change)
            #if canImport(UIKit)
            observers.add(UIApplication.didReceiveMemoryWarningNotification, warning)
            #else
            let source = DispatchSource.makeMemoryPressureSource(
                eventMask: [.warning, .critical], queue: DispatchQueue(label: "hearth.memory"))
            source.setEventHandler(handler: warning)
            source.activate()
            observers.add(source)
            #endif
            return { observers.stop() }
        }
        return signals
    }
}

/// What listens to the system, until it is stopped.
private final class Observers: @unchecked Sendable {
    // Changed only before it is given away, and once afterwards.
    private var tokens: [any NSObjectProtocol] = []
    private var sources: [any DispatchSourceProtocol] = []

    func add(_ name: Notification.Name, _ body: @escaping @Sendable () -> Void) {
        tokens.append(NotificationCenter.default.addObserver(forName: name, object: nil, queue: nil) { _ in body() })
    }

    func add(_ source: any DispatchSourceProtocol) { sources.append(source) }

    func stop() {
        for token in tokens { NotificationCenter.default.removeObserver(token) }
        for source in sources { source.cancel() }
    }
}
#endif
