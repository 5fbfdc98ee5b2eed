import Foundation
import HearthBase

/// A `Claim` of a process that works with a release: `marks/<family>/<release>/<token>`.
///
/// The purpose of the claim is the ``stage``. The mark of an ended process tells the next start which stage it ended
/// in; ``Recovery`` decides what follows.
package struct ActivityMark: Sendable, Hashable {
    /// Stages that an end of the process may interrupt, in the order in which they happen.
    package enum Stage: String, Sendable, Hashable, Codable, CaseIterable {
        /// Steps of an activation.
        case verify, prepare, probe, commit
        /// A rollback.
        case rollback
        /// The use of a release on probation.
        case load, generate

        /// Whether the stage decides which release is live.
        var isDecision: Bool { self == .commit || self == .rollback }
    }

    /// How long a mark counts without a renewal if this process cannot check whether its holder runs.
    static let lifetime = Duration.seconds(3600)

    package let stage: Stage
    private(set) var claim: Claim

    /// A mark of this process.
    package init(_ stage: Stage, at date: Date, target: String? = nil, reason: String? = nil) {
        self.stage = stage
        claim = Claim(at: date, purpose: stage.rawValue)
        self.target = target
        self.reason = reason.map(HeldBack.bounded)
    }

    /// The mark in a claim, `nil` if the claim names no known stage.
    package init?(_ claim: Claim) {
        guard let stage = claim.purpose.flatMap(Stage.init) else { return nil }
        self.stage = stage
        self.claim = claim
    }

    package var process: ProcessIdentity {
        get { claim.holder }
        set { claim.holder = newValue }
    }

    package var since: Date { claim.since }

    /// The release that a rollback leads to.
    package var target: String? {
        get { claim.details["target"] }
        set { claim.details["target"] = newValue }
    }

    /// The reason for a rollback.
    package var reason: String? {
        get { claim.details["reason"].map(HeldBack.bounded) }
        set { claim.details["reason"] = newValue }
    }

    /// The same mark under another token.
    package func named(_ token: String) -> Self {
        var mark = self
        mark.claim.token = token
        return mark
    }

    /// Whether the process that wrote the mark has ended.
    ///
    /// A process of an earlier boot has ended: a power cut during an answer counts like a crash, because a model that
    /// brings the whole machine down shows in no other way, and one end alone causes no rollback. This process cannot
    /// ask about a process of another container: that mark counts as left once it is no longer renewed.
    func isLeft(at now: Date, isRunning: (ProcessIdentity) -> Bool?) -> Bool {
        if let isRunning = isRunning(process) { return !isRunning }
        let here = ProcessIdentity.current
        if !here.boot.isEmpty, !process.boot.isEmpty, process.boot != here.boot { return true }
        return claim.isOverdue(at: now, lifetime: Self.lifetime)
    }

    /// A token that was never used.
    package static func token() -> String { Claim.newToken() }
}
