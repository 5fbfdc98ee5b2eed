import Foundation
import HearthBase
import HearthCatalog

/// The time after activation in which crashes bring the previous release back.
///
/// ```
///             3 answers, or 10 minutes inside load and generate
///   begun ─────────────────────────────────────────────────────► proven
///     │
///     │ 2 processes ended inside load or generate
///     └─────────────────────────────────────────────────────────► failed: the release before comes back
/// ```
/// Other ends of a process never count, nor do reported errors or stopped answers: only a process that ends inside
/// ``ModelStore/guarding(_:_:isolation:_:)`` leaves a mark. Each process counts once, however many marks it leaves.
package struct Probation: Sendable, Hashable {
    /// The number of answers that proves a release.
    package static let answersNeeded = 3
    /// The seconds of use that prove a release, including stopped and failed answers.
    package static let secondsNeeded = 600.0
    /// The number of processes that have to end inside load or generate to refute a release.
    package static let uncleanEndsAllowed = 2

    /// The release on probation.
    package let release: ReleaseIdentity
    /// The start of the probation.
    package let began: Date
    /// The number of completed answers.
    package internal(set) var answers: Int
    /// The seconds spent loading it and answering, completed or not.
    package internal(set) var seconds: Double

    /// A new probation.
    init(of release: ReleaseIdentity, began: Date, answers: Int = 0, seconds: Double = 0) {
        self.release = release
        // Whole seconds, as they are written: a record equals itself when it is read back.
        self.began = Date(timeIntervalSince1970: began.timeIntervalSince1970.rounded(.down))
        self.answers = answers
        self.seconds = seconds
    }

    /// Events of a release in use.
    package enum Event: Sendable, Hashable {
        /// It was loaded, or answered, completely or not: the seconds of use.
        case used(seconds: Double)
        /// It completed an answer; the seconds that were not yet counted as use.
        case answered(seconds: Double)
        /// At a start: the number of processes that have ended while they used it.
        case started(uncleanEnds: Int)
    }

    /// Consequence of an event.
    package enum Verdict: Sendable, Hashable {
        case continues(Probation)
        case passed
        case failed(String)
    }

    /// The consequence of an event for the release.
    package func after(_ event: Event) -> Verdict {
        var next = self
        switch event {
        case .used(let seconds): next.add(seconds)
        case .answered(let seconds):
            next.answers = answers < Self.answersNeeded ? answers + 1 : answers
            next.add(seconds)
        case .started(let ends):
            guard ends < Self.uncleanEndsAllowed else { return .failed(Self.reason(uncleanEnds: ends)) }
        }
        return next.answers >= Self.answersNeeded || next.seconds >= Self.secondsNeeded ? .passed : .continues(next)
    }

    private mutating func add(_ more: Double) {
        if more.isFinite, more > 0 { seconds += more }
    }

    /// The reason for a rollback, for people.
    package static func reason(uncleanEnds: Int) -> String {
        "the program ended \(uncleanEnds) times while it loaded the model or answered with it"
    }
}

/// A release that updates pass over, because it failed on this device or was rolled back.
package struct HeldBack: Sendable, Hashable {
    package let release: ReleaseIdentity
    /// The reason, as the end of a sentence: `its answer "…" does not match (?i)paris`.
    package let reason: String
    package let since: Date

    /// The longest reason kept, in bytes.
    static let maximumReasonBytes = 512
    /// The most releases remembered for a family.
    package static let maximumCount = 16

    /// A release held back from `since` on; its reason is shortened and stripped of characters that a terminal would
    /// act on.
    package init(_ release: ReleaseIdentity, reason: String, since: Date) {
        self.release = release
        self.reason = Self.bounded(reason)
        self.since = Date(timeIntervalSince1970: since.timeIntervalSince1970.rounded(.down))
    }

    static func bounded(_ text: String) -> String { text.boundedLine(maximumBytes: maximumReasonBytes) }
}
