import Foundation
import HearthBase
import HearthCatalog

/// Decisions of a start about the marks that ended processes left in a family, as a value.
///
/// | mark | consequence |
/// | --- | --- |
/// | `verify`, `prepare` | nothing had changed: the mark is removed |
/// | `probe` | the first stays and counts; after a second process the release is held back |
/// | `commit` | finished; a switch not made yet is given up if the release is held back or not whole |
/// | `rollback` | finished, unless the target is not whole or another release is live |
/// | `load`, `generate` | counted during probation; after a second process the release is rolled back |
///
/// Of several commits and rollbacks the latest counts: it was to overtake the others, and changed nothing while their
/// marks existed. Marks have whole seconds: of two unfinished decisions in one second, either may be finished. An
/// unfinished decision is logged with its reason. A process counts once, however many marks it left.
///
/// A rollback to a bundled release is given up if the app has none.
struct Recovery: Sendable, Hashable {
    /// A rollback from one release to another.
    package struct Rollback: Sendable, Hashable {
        package let from: ReleaseIdentity
        /// `nil` for the release bundled with the app.
        package let to: ReleaseIdentity?
        package let reason: String
    }

    /// The state to record; the link follows it.
    package private(set) var state: ReleaseState
    /// Marks that are no longer needed.
    package private(set) var done: [MarkFiles.Found] = []
    /// The interrupted decision that was considered; it overtakes earlier ones of any process.
    private(set) var decision: MarkFiles.Found?
    /// A rollback begun before, which `state` finishes; not yet reported.
    package private(set) var finished: Rollback?
    /// A further rollback to make afterwards, from a release that failed its probation.
    package private(set) var rollback: Rollback?
    /// Releases held back because too many processes ended during their probe.
    package private(set) var heldBack: [HeldBack] = []
    /// Messages for the log.
    package private(set) var notes: [String] = []
    private let hasBundled: Bool

    /// Decides on the marks of a family.
    /// - Parameters:
    ///   - state: the present state of the family, reconciled with the link.
    ///   - left: the marks of ended processes.
    ///   - hasBundled: whether the app has a bundled model of the family, which serves if no release is live.
    ///   - isUsable: whether a release is whole by names and sizes.
    init(
        _ state: ReleaseState, left: [MarkFiles.Found], hasBundled: Bool = false, at date: Date,
        isUsable: (ReleaseIdentity) throws -> Bool
    ) rethrows {
        self.state = state
        self.hasBundled = hasBundled
        for mark in left {
            switch mark.mark?.stage {
            case .commit, .rollback:
                done.append(mark)
                if decision.map({ $0.began <= mark.began }) ?? true { decision = mark }
            case nil, .verify, .prepare: done.append(mark)
            case .probe, .load, .generate: break
            }
        }
        switch decision?.mark?.stage {
        case .commit: try decision.map { try finishCommit($0, at: date, isUsable) }
        case .rollback: try decision.map { try finishRollback($0, at: date, isUsable) }
        default: break
        }
        judgeProbes(left.filter { $0.mark?.stage == .probe }, at: date)
        try judgeUse(left.filter { $0.mark?.stage == .load || $0.mark?.stage == .generate }, isUsable)
    }

    private mutating func finishCommit(
        _ left: MarkFiles.Found, at date: Date, _ isUsable: (ReleaseIdentity) throws -> Bool
    ) rethrows {
        if state.active == left.release {
            // The link is switched. A missing probation shows that the record was not written.
            guard state.probation?.release != left.release else { return }
            // A live release is no longer held back.
            state = state.committing(left.release, at: date)
            state.probation = Probation(of: left.release, began: date)
        } else if state.isHeldBack(left.release) {
            // The release was rolled back since, or never became live: switching to it needs a new decision.
            return notes.append("\(left.release) is held back and does not become live")
        } else if try isUsable(left.release) {
            state = state.committing(left.release, at: date)
        } else {
            return notes.append("\(left.release) was to become live and is no longer whole")
        }
        notes.append("finished the activation of \(left.release)")
    }

    private mutating func finishRollback(
        _ left: MarkFiles.Found, at date: Date, _ isUsable: (ReleaseIdentity) throws -> Bool
    ) rethrows {
        guard let name = left.mark?.target else { return try finishRetreat(left, at: date, isUsable) }
        // The rollback is recorded, or the release was activated again since.
        guard !state.isHeldBack(left.release) else { return }
        let unfinished = "the rollback from \(left.release) is not finished: "
        guard let target = ReleaseIdentity(family: left.release.family, folderName: name), target != left.release else {
            return notes.append("\(unfinished)it led nowhere")
        }
        guard state.active == left.release || state.active == target else {
            return notes.append("\(unfinished)\(state.active.map { "\($0) is live since" } ?? "nothing is live")")
        }
        guard try isUsable(target) else { return notes.append("\(unfinished)\(target) is no longer whole") }
        finish(left, to: target, at: date)
    }

    /// Makes the state after a rollback. The link may already lead to the target while the record does not say so.
    private mutating func finish(_ left: MarkFiles.Found, to target: ReleaseIdentity?, at date: Date) {
        let reason = left.mark?.reason ?? "it was rolled back"
        state.active = left.release
        state = state.rolledBack(to: target, because: reason, at: date)
        finished = Rollback(from: left.release, to: target, reason: reason)
        let name = target?.description ?? "what came with the app"
        notes.append("finished the rollback from \(left.release) to \(name)")
    }

    /// Finishes a rollback to the bundled release.
    private mutating func finishRetreat(
        _ left: MarkFiles.Found, at date: Date, _ isUsable: (ReleaseIdentity) throws -> Bool
    ) rethrows {
        guard !state.isHeldBack(left.release) else { return }
        let unfinished = "the rollback from \(left.release) to what came with the app is not finished: "
        guard state.active == left.release || state.active == nil else {
            return notes.append("\(unfinished)\(state.active?.description ?? "nothing") is live since")
        }
        guard hasBundled else {
            // There is no bundled release: another program shares this home, or the app no longer bundles a model. If
            // the link is removed already, the release becomes live again, on probation, so that the family has a live
            // release.
            guard state.active == nil else { return notes.append("\(unfinished)nothing came with it") }
            guard try isUsable(left.release) else {
                return notes.append("\(unfinished)nothing came with it, and \(left.release) is no longer whole")
            }
            state = state.committing(left.release, at: date)
            return notes.append("\(left.release) is live again, for nothing came with the app")
        }
        finish(left, to: nil, at: date)
    }

    /// The number of processes that left the marks: a process with several answers in progress ended once.
    private static func ends(_ marks: [MarkFiles.Found]) -> Int { Set(marks.compactMap(\.mark?.process)).count }

    private mutating func judgeProbes(_ marks: [MarkFiles.Found], at date: Date) {
        for (release, marks) in Dictionary(grouping: marks, by: \.release) {
            // A live or held-back release needs no further judgement.
            if state.active == release || state.isHeldBack(release) {
                done += marks
            } else if case let ends = Self.ends(marks), ends >= Probation.uncleanEndsAllowed {
                let reason = "the program ended \(ends) times while the model was tried"
                state = state.holdingBack(release, because: reason, at: date)
                heldBack += [state.heldBack(release)].compactMap(\.self)
                done += marks
                notes.append("\(release) is held back: \(reason)")
            }
        }
    }

    private mutating func judgeUse(
        _ marks: [MarkFiles.Found], _ isUsable: (ReleaseIdentity) throws -> Bool
    ) rethrows {
        done += marks.filter { $0.release != state.probation?.release }
        guard let probation = state.probation else { return }
        let ends = Self.ends(marks.filter { $0.release == probation.release })
        guard case .failed(let reason) = probation.after(.started(uncleanEnds: ends)) else { return }
        let target = try state.previous.flatMap { try isUsable($0) ? $0 : nil }
        guard target != nil || hasBundled else {
            return notes.append("\(probation.release): \(reason), and there is no earlier release to go back to")
        }
        rollback = Rollback(from: probation.release, to: target, reason: reason)
    }
}
