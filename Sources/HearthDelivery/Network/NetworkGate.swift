import Foundation
import HearthBase

/// Lets work through while the network may be used for it, stops it when that changes, and lets it begin again by itself.
///
/// ```swift
/// let gate = NetworkGate(policy: NetworkPolicy(), monitor: SystemNetwork.monitor())
/// let file = try await gate.whileAllowed(locations: request.locations) { hold in
///     download.take(hold.map { .hold($0) } ?? .release)
/// } body: {
///     try await fetch(request)
/// }
/// ```
public struct NetworkGate: Sendable {
    /// What to do where the network may not be used to begin with.
    public enum Start: Sendable, Hashable {
        /// Throw: for whoever is asked by a person.
        case fail
        /// Wait for it: for whoever works by itself.
        case wait
    }

    /// How long a condition has to last before it counts: a change from one network to another looks like several.
    public static let usualSettling = Duration.milliseconds(500)

    private let policy: NetworkPolicy
    private let monitor: any NetworkMonitor
    private let start: Start
    private let settling: Duration
    private let time: TimeSource

    /// A gate of the given policy on that network.
    public init(
        policy: NetworkPolicy, monitor: any NetworkMonitor, start: Start = .wait,
        settling: Duration = NetworkGate.usualSettling, time: TimeSource = .system
    ) {
        self.policy = policy
        self.monitor = monitor
        self.start = start
        self.settling = settling
        self.time = time
    }

    /// Those of the addresses that may be asked now: all of them, or only the exempt ones. Waits for nothing.
    /// - Throws: ``DeliveryError`` with `offline` or `metered-network` where that leaves none, `CancellationError`.
    public func admitted(_ locations: [URL]) async throws -> [URL] {
        guard let hold = try await hold(for: locations) else { return locations }
        let exempt = policy.exempt(locations)
        guard !exempt.isEmpty else { throw hold.failure }
        return exempt
    }

    /// What keeps the addresses waiting now. Nobody is asked about exempt ones.
    private func hold(for locations: [URL]) async throws -> DownloadHold? {
        guard policy.concerns(locations) else { return nil }
        for await condition in monitor.conditions() { return policy.hold(for: locations, in: condition) }
        try Task.checkCancellation()
        return nil
    }

    /// Runs `body` while the network may be used for those addresses.
    ///
    /// When that ends, the task of `body` is cancelled: it keeps what it has and throws `CancellationError`. Then the hold is
    /// reported, and every other that takes its place; when there is none any more, `nil` is, and `body` runs again.
    /// With exempt addresses only, `body` just runs; a list in which one is not exempt is held as a whole.
    /// - Parameters:
    ///   - locations: every address that `body` may ask.
    ///   - onHold: what is waited for; `nil` when it goes on. Always before `body` runs again, never beside it.
    ///   - body: work that can be cancelled and run again.
    /// - Throws: what `body` throws of its own accord; `CancellationError` at once when the calling task is cancelled;
    ///   ``DeliveryError`` with `offline` or `metered-network` if the gate is not to wait at the start, or the monitor ends
    ///   while waiting.
    public func whileAllowed<Result: Sendable>(
        locations: [URL], onHold: @Sendable (DownloadHold?) -> Void, body: @escaping @Sendable () async throws -> Result
    ) async throws -> Result {
        guard policy.concerns(locations) else { return try await body() }
        if start == .fail, let hold = try await hold(for: locations) { throw hold.failure }
        while true {
            try await waitUntilAllowed(locations, onHold)
            if let result = try await untilHeld(locations, body) { return result }
        }
    }

    /// Reports what is waited for, until there is nothing.
    private func waitUntilAllowed(_ locations: [URL], _ onHold: (DownloadHold?) -> Void) async throws {
        var reported: DownloadHold?
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
        /// Nothing will change any more.
        case unwatched
    }

    /// Runs `body` to its end, or until a hold has stopped it; `nil` then.
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
                // That was the gate's own doing, unless the caller is cancelled as well.
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
