import Foundation
import HearthAssistant
import HearthBase

/// The permission that a person has given an app for their calendars, reminders or contacts.
public enum AccessState: String, Sendable, Hashable, CaseIterable {
    /// The person was not asked yet.
    case notDetermined
    /// A profile or Screen Time forbids access; the person cannot allow it in the app.
    case restricted
    case denied
    /// The app adds events and reads none, not even those that it added.
    case writeOnly
    /// The app sees the contacts that the person has chosen, and those that it adds.
    case limited
    case full

    /// Whether the app reads and changes records.
    public var mayRead: Bool { self == .full || self == .limited }

    /// The state in a sentence without its full stop, for a person.
    /// - Parameter kind: `calendar`, `reminders` or `contacts`.
    public func sentence(for kind: StoreKind) -> String {
        let (name, noun) = (AccessWords.name(kind), kind.noun)
        return switch self {
        case .notDetermined: "You have not decided whether this app may use your \(name)"
        case .restricted: "A restriction of this device forbids this app to use your \(name)"
        case .denied: "This app may not use your \(name)"
        case .writeOnly: "This app may add \(noun)s, but read none"
        case .limited: "This app sees only the \(noun)s that you have chosen"
        case .full: "This app may read and change your \(name)"
        }
    }

    /// The error of a call that the state does not allow.
    func refusal(of kind: StoreKind) -> AssistantError {
        let (code, remedy): (AssistantError.Code, String) =
            switch self {
            case .writeOnly: (.accessWriteOnly, "Allow full access in Settings, \(AccessWords.pane(kind)).")
            case .restricted: (.accessRestricted, "Lift the restriction in Screen Time, or ask who manages the device.")
            case .notDetermined: (.accessUndecided, "Open the app and answer its question.")
            case .denied, .limited, .full: (.accessDenied, "Allow access in Settings, \(AccessWords.pane(kind)).")
            }
        return AssistantError(
            code, sentence(for: kind), context: ErrorContext(found: rawValue, remedy: remedy),
            disposition: self == .notDetermined ? .tryLater : .failed)
    }
}

/// The names of kinds of records in sentences about access.
enum AccessWords {
    static func name(_ kind: StoreKind) -> String { kind == .calendar ? "calendars" : kind.rawValue }

    /// The page of the settings.
    static func pane(_ kind: StoreKind) -> String { "Privacy & Security, \(name(kind).capitalized)" }
}

/// Asks for a permission once, and checks it before and after each use.
///
/// A person can withdraw a permission while an app runs, and a device that was restarted in a pocket launches apps before
/// its owner has unlocked it. Frameworks then answer as if there were no records, so the state is checked again after a
/// call: an empty answer without a permission is an error.
package final class SystemAccess: Sendable {
    let kind: StoreKind
    private let status: @Sendable () -> AccessState
    private let ask: @Sendable () async throws -> Bool
    private let isUnlocked: @Sendable () async -> Bool
    private let asking = Locked<Task<Bool, any Error>?>(nil)

    /// - Parameters:
    ///   - status: the permission now.
    ///   - ask: asks the person; whether they have allowed it.
    ///   - isUnlocked: whether the device was unlocked since it started.
    package init(
        _ kind: StoreKind, status: @escaping @Sendable () -> AccessState,
        ask: @escaping @Sendable () async throws -> Bool, isUnlocked: @escaping @Sendable () async -> Bool
    ) {
        (self.kind, self.status, self.ask, self.isUnlocked) = (kind, status, ask, isUnlocked)
    }

    /// The permission now.
    package var state: AccessState { status() }

    /// Asks the person if they were not asked yet. Calls at the same time ask once.
    /// - Throws: the error of the framework.
    package func request() async throws -> AccessState {
        let present = status()
        guard present == .notDetermined else { return present }
        let task = asking.withLock { asking in
            let task =
                asking
                ?? Task { [self] in
                    defer { self.asking.withLock { $0 = nil } }
                    return try await ask()
                }
            asking = task
            return task
        }
        // The question stays on the screen for other callers.
        _ = try await abandonable { try await task.value }
        return status()
    }

    /// Calls `body` if the app may read and change records.
    /// - Throws: `access-undecided`, `access-restricted`, `access-denied`, `access-write-only`, `store-locked`; errors of
    ///   `body` with a permission that did not change.
    func reading<Result: Sendable>(
        isolation: isolated (any Actor)? = #isolation, _ body: () async throws -> Result
    ) async throws -> Result {
        try await using({ $0.mayRead }, body)
    }

    /// Calls `body`, which adds a record, if the app may add records.
    func adding<Result: Sendable>(
        isolation: isolated (any Actor)? = #isolation, _ body: () async throws -> Result
    ) async throws -> Result {
        try await using({ $0.mayRead || $0 == .writeOnly }, body)
    }

    /// Whether the app adds records only.
    func isWriteOnly() async throws -> Bool {
        try await allowed { $0.mayRead || $0 == .writeOnly } == .writeOnly
    }

    private func using<Result: Sendable>(
        isolation: isolated (any Actor)? = #isolation, _ isEnough: @Sendable (AccessState) -> Bool,
        _ body: () async throws -> Result
    ) async throws -> Result {
        _ = try await allowed(isEnough)
        do {
            let result = try await body()
            try check(status(), isEnough)
            return result
        } catch let error as SystemStoreError where error == .notAuthorized {
            let present = status()
            throw (isEnough(present) ? AccessState.denied : present).refusal(of: kind)
        } catch is SystemStoreError {
            guard await isUnlocked() else { throw locked }
            try check(status(), isEnough)
            throw AssistantError(
                .unusableRecord, "The \(AccessWords.name(kind)) of this device cannot be read or written",
                context: ErrorContext(remedy: "Try again; restart the device if that does not help."),
                disposition: .tryLater)
        }
    }

    private func allowed(_ isEnough: @Sendable (AccessState) -> Bool) async throws -> AccessState {
        guard await isUnlocked() else { throw locked }
        let state: AccessState
        do {
            state = try await request()
        } catch is CancellationError {
            throw CancellationError()
        } catch {
            throw AssistantError(
                .accessUndecided, "The question for your \(AccessWords.name(kind)) could not be asked",
                context: ErrorContext(remedy: "Open the app and try again."), disposition: .tryLater, underlying: error)
        }
        try check(state, isEnough)
        return state
    }

    private func check(_ state: AccessState, _ isEnough: (AccessState) -> Bool) throws {
        guard isEnough(state) else { throw state.refusal(of: kind) }
    }

    private var locked: AssistantError {
        AssistantError(
            .storeLocked,
            "The \(AccessWords.name(kind)) are locked, because this device was not unlocked since it started",
            context: ErrorContext(remedy: "Unlock the device once."), disposition: .tryLater)
    }
}

/// A failure of a framework of the system, as the stores distinguish it.
package enum SystemStoreError: Error, Hashable {
    /// The permission was withdrawn.
    case notAuthorized
    /// Any other failure of the database, with the code of the framework.
    case failed(Int)
}
