import Foundation
import HearthBase

/// Runs work while the network may be used, cancels it when that ends, and runs it again when it may continue.
///
/// ```swift
/// let gate = NetworkGate(policy: NetworkPolicy(), monitor: SystemNetwork.monitor())
/// let file = try await gate.whileAllowed(locations: request.locations) { hold in
///     show(hold)
/// } body: {
///     try await fetch(request)
/// }
/// ```
package struct NetworkGate: Sendable {
    /// How long a condition must last before it counts; a switch between networks causes several short changes.
    package static let defaultSettling = Duration.milliseconds(500)

    private let policy: NetworkPolicy
    private let monitor: any NetworkMonitor
    private let settling: Duration
    private let time: TimeSource

    /// A gate that applies the policy to the monitored network.
    package init(
        policy: NetworkPolicy, monitor: any NetworkMonitor,
        settling: Duration = NetworkGate.defaultSettling, time: TimeSource = .system
    ) {
        self.policy = policy
        self.monitor = monitor
        self.settling = settling
        self.time = time
    }

    /// The addresses that may be used now: all of them, or only the exempt ones. Does not wait for a change.
    /// - Throws: ``NetworkError`` with `offline` or `metered-network` if no address remains; `CancellationError`.
    package func admitted(_ locations: [URL]) async throws -> [URL] {
        guard let hold = try await hold(for: locations) else { return locations }
        let exempt = policy.exempt(locations)
        guard !exempt.isEmpty else { throw hold.failure }
        return exempt
    }

    /// Why the addresses must wait now. The monitor is not asked if all addresses are exempt.
    private func hold(for locations: [URL]) async throws -> NetworkHold? {
        guard policy.concerns(locations) else { return nil }
        for await condition in monitor.conditions() { return policy.hold(for: locations, in: condition) }
        try Task.checkCancellation()
        return nil
    }

    /// Runs `body` while the network may be used for those addresses.
    ///
    /// When a hold begins, the task of `body` is cancelled: it keeps its partial work and throws `CancellationError`.
    /// Then the hold is reported, and each hold that replaces it. When the last one ends, `nil` is reported and `body`
    /// runs again. If all addresses are exempt, `body` simply runs; otherwise the hold applies to all of them.
    /// - Parameters:
    ///   - locations: every address that `body` may use.
    ///   - onHold: receives each hold, and `nil` when the last one ends; never called while `body` runs.
    ///   - body: work that can be cancelled and run again.
    /// - Throws: any error of `body` except the gate's own cancellation; `CancellationError` at once if the calling
    ///   task is cancelled; ``NetworkError`` with `offline` or `metered-network` if the gate may not wait at the start,
    ///   or if the monitor ends during a hold.
    package func whileAllowed<Result: Sendable>(
        locations: [URL], onHold: @Sendable (NetworkHold?) -> Void, body: @escaping @Sendable () async throws -> Result
    ) async throws -> Result {
        guard policy.concerns(locations) else { return try await body() }
        while true {
            try await waitUntilAllowed(locations, onHold)
            if let result = try await untilHeld(locations, body) { return result }
        }
    }

    /// Reports each hold, and returns when there is none.
    private func waitUntilAllowed(_ locations: [URL], _ onHold: (NetworkHold?) -> Void) async throws {
        var reported: NetworkHold?
        for await condition in monitor.conditions() {
            if let hold = policy.hold(for: locations, in: condition) {
                if hold != reported { onHold(hold) }
                reported = hold
            } else {
                guard reported != nil else { return }
                try await time.sleep(for: settling)
                guard policy.hold(for: locations, in: monitor.condition) == nil else { continue }
                return onHold(nil)
            }
        }
        try Task.checkCancellation()
        if let reported { throw reported.failure }
    }

    private enum Ending<Result: Sendable>: Sendable {
        case finished(Result)
        case held
        /// The monitor has ended.
        case unwatched
    }

    /// Runs `body` to its end; `nil` if a hold stopped it.
    private func untilHeld<Result: Sendable>(
        _ locations: [URL], _ body: @escaping @Sendable () async throws -> Result
    ) async throws -> Result? {
        try await withThrowingTaskGroup(of: Ending<Result>.self) { group in
            group.addTask { .finished(try await body()) }
            group.addTask { try await held(locations) }
            defer { group.cancelAll() }
            var isHeld = false
            do {
                while let ending = try await group.next() {
                    switch ending {
                    case .finished(let result): return result
                    case .unwatched: break
                    case .held:
                        isHeld = true
                        group.cancelAll()
                    }
                }
            } catch is CancellationError where isHeld {
                // The gate cancelled `body`; rethrow only if the caller is cancelled too.
                try Task.checkCancellation()
            }
            return nil
        }
    }

    /// Returns when a hold has begun and lasted.
    private func held<Result: Sendable>(_ locations: [URL]) async throws -> Ending<Result> {
        for await condition in monitor.conditions() where policy.hold(for: locations, in: condition) != nil {
            try await time.sleep(for: settling)
            if policy.hold(for: locations, in: monitor.condition) != nil { return .held }
        }
        return .unwatched
    }
}
