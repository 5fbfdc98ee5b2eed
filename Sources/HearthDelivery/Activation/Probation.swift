import Foundation
import HearthBase

/// The time in which a release that has just become live has to show that it is good.
///
/// ```
///             3 answers, or 10 minutes inside load and generate
///   begun ─────────────────────────────────────────────────────► proven
///     │
///     │ 2 processes ended inside load or generate
///     └─────────────────────────────────────────────────────────► failed: the release before comes back
/// ```
/// How a process ended elsewhere never counts, nor does an error that was reported or an answer that was stopped: only who dies
/// between the two lines of ``ModelStore/guarding(_:_:isolation:_:)`` leaves a mark. A process ends once, however many it leaves.
public struct Probation: Sendable, Hashable {
    /// So many answers prove a release.
    public static let answersNeeded = 3
    /// So many seconds inside load and generate prove it as well, with those of answers that were stopped or failed.
    public static let secondsNeeded = 600.0
    /// So many processes that end inside load or generate refute it.
    public static let uncleanEndsAllowed = 2

    /// What is on probation.
    public let release: ReleaseIdentity
    /// Since when.
    public let began: Date
    /// The answers it has given to the end, as a person asked.
    public internal(set) var answers: Int
    /// The seconds spent in loading it and in its answers, however these ended.
    public internal(set) var seconds: Double

    /// A probation that begins.
    init(of release: ReleaseIdentity, began: Date, answers: Int = 0, seconds: Double = 0) {
        self.release = release
        // Whole seconds, as they are written: a record equals itself when it is read back.
        self.began = Date(timeIntervalSince1970: began.timeIntervalSince1970.rounded(.down))
        self.answers = answers
        self.seconds = seconds
    }

    /// What may happen to a release in use.
    enum Event: Sendable, Hashable {
        /// It was loaded, or answered, to the end or not: so many seconds of use.
        case used(seconds: Double)
        /// It answered to the end, in so many seconds that no use has counted.
        case answered(seconds: Double)
        /// At a start: so many processes have ended inside of it until now.
        case started(uncleanEnds: Int)
    }

    /// What follows.
    enum Verdict: Sendable, Hashable {
        case goesOn(Probation)
        case passed
        case failed(String)
    }

    /// What an event means for the release.
    func after(_ event: Event) -> Verdict {
        var next = self
        switch event {
        case .used(let seconds): next.add(seconds)
        case .answered(let seconds):
            next.answers = answers < Self.answersNeeded ? answers + 1 : answers
            next.add(seconds)
        case .started(let ends):
            guard ends < Self.uncleanEndsAllowed else { return .failed(Self.reason(uncleanEnds: ends)) }
        }
        return next.answers >= Self.answersNeeded || next.seconds >= Self.secondsNeeded ? .passed : .goesOn(next)
    }

    private mutating func add(_ more: Double) {
        if more.isFinite, more > 0 { seconds += more }
    }

    /// Why a release is rolled back, for people.
    static func reason(uncleanEnds: Int) -> String {
        "the program ended \(uncleanEnds) times while it loaded the model or answered with it"
    }
}

/// A release that is not tried again by itself.
public struct HeldBack: Sendable, Hashable {
    public let release: ReleaseIdentity
    /// Why, as the end of a sentence: `its answer "…" does not match (?i)paris`.
    public let reason: String
    public let since: Date
    /// The digest of all that it holds, where only those bytes are meant; `nil` for the release, whatever it holds.
    public let content: SHA256Digest?
    /// The digest of what the catalog's entry promised of them (``Release/promised``); `nil` where it promised too little, or nobody
    /// wrote that down.
    var promised: SHA256Digest?

    /// The longest reason that is kept, in bytes.
    static let maximumReasonBytes = 512
    /// The most that are remembered of a family.
    static let maximumCount = 16

    /// A release that is held back from `since` on; the reason is shortened and stripped of what a terminal would act on.
    init(
        _ release: ReleaseIdentity, content: SHA256Digest? = nil, promised: SHA256Digest? = nil, reason: String,
        since: Date
    ) {
        self.release = release
        self.content = content
        self.promised = promised
        self.reason = Self.bounded(reason)
        self.since = Date(timeIntervalSince1970: since.timeIntervalSince1970.rounded(.down))
    }

    static func bounded(_ text: String) -> String {
        var kept = String.UnicodeScalarView()
        var count = 0
        for scalar in text.unicodeScalars {
            let isControl = [.control, .format, .lineSeparator, .paragraphSeparator]
                .contains(scalar.properties.generalCategory)
            let shown: Unicode.Scalar = isControl ? " " : scalar
            count += UTF8.width(shown)
            guard count <= maximumReasonBytes else { break }
            kept.append(shown)
        }
        return String(kept)
    }
}
