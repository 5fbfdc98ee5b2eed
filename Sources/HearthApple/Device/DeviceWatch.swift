import Foundation
import Hearth
import HearthBase

/// Watches the memory, heat and power of a device, so that models leave it in time.
///
/// ```swift
/// let watch = DeviceWatch()
/// let hearth = try Hearth(watching: watch, origins: [Origin("main", manifestURL)])
/// for await policy in watch.policies() { banner = policy.answers == .refused ? "The device is too hot." : nil }
/// ```
/// After a memory warning of the system, and in critical heat, models without work are unloaded within two seconds; their
/// next use loads them again. An answer under way ends first.
public final class DeviceWatch: Sendable {
    /// Reads and hears the device.
    struct Signals: Sendable {
        /// The bytes that the app may still take before the system ends it; `nil` if unknown.
        var available: @Sendable () -> UInt64? = { nil }
        /// The bytes of the app's limit, or of the device.
        var total: @Sendable () -> UInt64? = { nil }
        var conditions: @Sendable () -> DeviceConditions = { DeviceConditions() }
        /// Listens until the returned closure is called: for memory warnings, and for changes of the conditions.
        var listen:
            @Sendable (_ warning: @escaping @Sendable () -> Void, _ change: @escaping @Sendable () -> Void)
                -> @Sendable () -> Void = { _, _ in {} }
    }

    private struct State {
        /// Runs since the last memory warning.
        var warning: Stopwatch?
        var policy: DevicePolicy
        var readers: [UUID: AsyncStream<DevicePolicy>.Continuation] = [:]
        var stop: (@Sendable () -> Void)?
    }

    private let signals: Signals
    private let time: TimeSource
    private let state: Locked<State>

    /// A warning counts for longer than the time between two looks at the memory.
    static let warningPeriod = Duration.seconds(5)

    init(_ signals: Signals, time: TimeSource = .system) {
        (self.signals, self.time) = (signals, time)
        state = Locked(State(policy: signals.conditions().policy))
        let stop = signals.listen({ [weak self] in self?.warn() }, { [weak self] in self?.refresh() })
        state.withLock { $0.stop = stop }
        // The state may have changed while the watch began to listen.
        refresh()
    }

    deinit {
        let (stop, readers) = state.withLock { ($0.stop, Array($0.readers.values)) }
        stop?()
        for reader in readers { reader.finish() }
    }

    /// What models may do now.
    public var policy: DevicePolicy { state.withLock { $0.policy } }

    /// The policy now, then each change; a slow reader gets the newest.
    public func policies() -> AsyncStream<DevicePolicy> {
        let (stream, continuation) = AsyncStream.makeStream(of: DevicePolicy.self, bufferingPolicy: .bufferingNewest(1))
        let id = UUID()
        continuation.onTermination = { [weak self] _ in self?.state.withLock { $0.readers[id] = nil } }
        state.withLock { state in
            state.readers[id] = continuation
            continuation.yield(state.policy)
        }
        return stream
    }

    /// Unloads models without work, as after a memory warning of the system. For an app with its own signals.
    public func warn() {
        let stopwatch = time.stopwatch()
        state.withLock { $0.warning = stopwatch }
    }

    private func refresh() {
        let policy = signals.conditions().policy
        state.withLock { state in
            guard state.policy != policy else { return }
            state.policy = policy
            for reader in state.readers.values { reader.yield(policy) }
        }
    }
}

extension DeviceWatch: MemoryPressureSource {
    package func read() -> MemoryReading {
        let (warning, keepsIdleModels) = state.withLock { ($0.warning, $0.policy.keepsIdleModels) }
        let isWarned = warning.map { $0.elapsed < Self.warningPeriod } ?? false
        return MemoryReading(
            availableBytes: signals.available(), totalBytes: signals.total(),
            // As if all work waited for memory: everything without work is unloaded.
            stalledShare: isWarned || !keepsIdleModels ? 1 : nil)
    }
}
