import Foundation
import HearthBase

/// What a start makes of the marks that ended processes left in a family, as a value.
///
/// | mark | what follows |
/// | --- | --- |
/// | `verify`, `prepare` | nothing had changed: it goes; one of what was being made stays as long as the release is whole, and counts for whoever is to make that: ``MakingEnds`` |
/// | `probe` | one stays and counts; after a second process the release is held back; of other bytes of the live release, those |
/// | `commit` | the release had passed: the switch is made, or recorded where the link leads to it; else one that is held back, or not whole any more, stays as it is |
/// | `rollback` | the way back is gone to its end, unless that is not whole any more or something else is live; one to what came with the app is given up where nothing did |
/// | `load`, `generate` | they count while the release is on probation; after a second process it is rolled back |
///
/// Of several that decide what is live the latest counts: it was to overtake the others, and nothing of it had changed as long
/// as they were there. Marks know whole seconds: of two decisions within one, none of which was brought to its end, either may
/// be finished. What is not finished is noted with the reason. However many marks a process left, it ended once.
struct Recovery: Sendable, Hashable {
    /// A mark that a process left behind.
    struct LeftMark: Sendable, Hashable {
        let release: ReleaseIdentity
        let token: String
        /// `nil` for a file that is none.
        let mark: ActivityMark?

        var began: Date { mark?.since ?? .distantPast }
    }

    /// The way back of a release.
    struct Rollback: Sendable, Hashable {
        let from: ReleaseIdentity
        /// `nil` for what came with the app.
        let to: ReleaseIdentity?
        let reason: String
    }

    /// What is to be recorded; the link follows it.
    private(set) var state: ReleaseState
    /// Marks that have done their work.
    private(set) var done: [LeftMark] = []
    /// The interrupted decision on what is live that was looked at; earlier ones, of whomever, are overtaken by it.
    private(set) var decision: LeftMark?
    /// A rollback that was begun before, and that `state` brings to its end: nobody was told of it yet.
    private(set) var finished: Rollback?
    /// A rollback to be made after all this, as one of its own: of what has failed its probation.
    private(set) var rollback: Rollback?
    /// What ended the program too often while it was tried.
    private(set) var heldBack: [HeldBack] = []
    /// What happened, for the log.
    private(set) var notes: [String] = []
    private let hasBundled: Bool

    /// Decides.
    /// - Parameters:
    ///   - state: what is true of the family now, the link considered.
    ///   - left: the marks of ended processes.
    ///   - hasBundled: whether a model of the family came with the app, which serves where no release is live.
    ///   - isUsable: whether a release is whole as far as names and sizes tell.
    init(
        _ state: ReleaseState, left: [LeftMark], hasBundled: Bool = false, at date: Date,
        isUsable: (ReleaseIdentity) throws -> Bool
    ) rethrows {
        self.state = state
        self.hasBundled = hasBundled
        for mark in left {
            switch mark.mark?.stage {
            case .commit, .rollback:
                done.append(mark)
                if decision.map({ $0.began <= mark.began }) ?? true { decision = mark }
            case .prepare where mark.mark?.target != nil: if try !isUsable(mark.release) { done.append(mark) }
            case nil, .verify, .prepare: done.append(mark)
            case .probe, .load, .generate: break
            }
        }
        switch decision?.mark?.stage {
        case .commit: try decision.map { try finishCommit($0, at: date, isUsable) }
        case .rollback: try decision.map { try finishRollback($0, at: date, isUsable) }
        default: break
        }
        judgeProbes(left.filter { $0.mark?.stage == .probe && $0.mark?.content == nil }, at: date)
        judgeTrials(left.filter { $0.mark?.stage == .probe && $0.mark?.content != nil }, at: date)
        try judgeUse(left.filter { $0.mark?.stage == .load || $0.mark?.stage == .generate }, isUsable)
    }

    private mutating func finishCommit(
        _ left: LeftMark, at date: Date, _ isUsable: (ReleaseIdentity) throws -> Bool
    ) rethrows {
        if state.active == left.release {
            // Switched; whether the record of it was written as well, its absence tells.
            guard state.probation?.release != left.release else { return }
            // Where it was held back before, that is over as well.
            state = state.committing(left.release, at: date)
            state.probation = Probation(of: left.release, began: date)
        } else if state.isHeldBack(left.release) {
            // Somebody has gone back from it since, or it never came to the link: it is asked for once more, or not.
            return notes.append("\(left.release) is held back and does not become live")
        } else if try isUsable(left.release) {
            state = state.committing(left.release, at: date)
        } else {
            return notes.append("\(left.release) was to become live and is no longer whole")
        }
        notes.append("finished the activation of \(left.release)")
    }

    private mutating func finishRollback(
        _ left: LeftMark, at date: Date, _ isUsable: (ReleaseIdentity) throws -> Bool
    ) rethrows {
        guard let name = left.mark?.target else { return try finishRetreat(left, at: date, isUsable) }
        // Recorded; or it was taken into use again since.
        guard !state.isHeldBack(left.release) else { return }
        let unfinished = "the rollback from \(left.release) is not finished: "
        guard let target = ReleaseIdentity(family: left.release.family, folderName: name), target != left.release else {
            return notes.append("\(unfinished)it led nowhere")
        }
        guard state.active == left.release || state.active == target else {
            return notes.append("\(unfinished)\(state.active.map { "\($0) is live since" } ?? "nothing is live")")
        }
        guard try isUsable(target) else { return notes.append("\(unfinished)\(target) is no longer whole") }
        let reason = left.mark?.reason ?? "it was rolled back"
        // The link may lead to the target already, and the record not say so.
        var before = state
        before.active = left.release
        state = before.rolledBack(to: target, because: reason, at: date)
        finished = Rollback(from: left.release, to: target, reason: reason)
        notes.append("finished the rollback from \(left.release) to \(target)")
    }

    /// To what came with the app: the link may be gone already, and the record not say so.
    private mutating func finishRetreat(
        _ left: LeftMark, at date: Date, _ isUsable: (ReleaseIdentity) throws -> Bool
    ) rethrows {
        guard !state.isHeldBack(left.release) else { return }
        let unfinished = "the rollback from \(left.release) to what came with the app is not finished: "
        guard state.active == left.release || state.active == nil else {
            return notes.append("\(unfinished)\(state.active?.description ?? "nothing") is live since")
        }
        guard hasBundled else {
            // Nothing to go back to: another program of this home looks, or the app comes without a model now. Where the link is
            // gone already nothing would be live, so the release is, and has to prove itself once more.
            guard state.active == nil else { return notes.append("\(unfinished)nothing came with it") }
            guard try isUsable(left.release) else {
                return notes.append("\(unfinished)nothing came with it, and \(left.release) is no longer whole")
            }
            state = state.committing(left.release, at: date)
            return notes.append("\(left.release) is live again, for nothing came with the app")
        }
        var before = state
        before.active = left.release
        let reason = left.mark?.reason ?? "it was rolled back"
        state = before.retired(because: reason, at: date)
        finished = Rollback(from: left.release, to: nil, reason: reason)
        notes.append("finished the rollback from \(left.release) to what came with the app")
    }

    /// How many processes left these: one that answered several people at once ended once all the same.
    private static func ends(_ marks: [LeftMark]) -> Int { Set(marks.compactMap(\.mark?.process)).count }

    private mutating func judgeProbes(_ marks: [LeftMark], at date: Date) {
        for (release, marks) in Dictionary(grouping: marks, by: \.release) {
            // What is live, or refused for good, has nothing more to show.
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

    /// Of what was to take the place of a live release: that has not failed, whatever its name.
    private mutating func judgeTrials(_ marks: [LeftMark], at date: Date) {
        for (release, marks) in Dictionary(grouping: marks, by: \.release) {
            for (content, marks) in Dictionary(grouping: marks, by: \.mark?.content) {
                guard let content else { continue }
                if state.active != release || state.heldBack(release, content: content) != nil {
                    done += marks
                } else if case let ends = Self.ends(marks), ends >= Probation.uncleanEndsAllowed {
                    let reason = "the program ended \(ends) times while they were tried"
                    let promised = marks.lazy.compactMap(\.mark?.promised).first
                    state = state.holdingBack(
                        content, promised: promised, of: release, because: reason, at: date)
                    done += marks
                    notes.append("other bytes of \(release) are held back: \(reason)")
                }
            }
        }
    }

    private mutating func judgeUse(
        _ marks: [LeftMark], _ isUsable: (ReleaseIdentity) throws -> Bool
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
