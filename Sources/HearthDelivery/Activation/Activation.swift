import Foundation
import HearthBase

/// The way of an installed release to being live, as a value: what has happened, what is to be done next.
///
/// ```
///  staged ──whole──► verified ──built, or used as it is──► prepared ──answers──► probed ──switched──► committed
///     │                 │                                   │  ▲ │                  │
///     │ damaged,        │ stopped                refused, as │  │ │ refused,        │ stopped
///     │ or stopped      │                        it was built└──┘ │ or stopped      │
///     └────────►────────┴──────────────►──────────────────────────┴────────►────────┴────────► rolledBack
/// ```
/// Until the switch nothing but marks and caches was written: the release before stays live, and is never touched. One that was
/// refused is recorded as held back. A stop in the middle of the switch counts as `rolledBack` as well, although the link may
/// lead to the new release by then: its mark stays, and the next start makes the switch, unless something else is decided before.
public struct Activation: Sendable, Hashable {
    /// How far it has come.
    public enum Phase: String, Sendable, Hashable, CaseIterable {
        /// Installed, and nothing more is known.
        case staged
        /// Every file is what the receipt says.
        case verified
        /// What the engine makes of it is there, or it is used as it is.
        case prepared
        /// An engine has loaded it and answered with it.
        case probed
        /// It is live.
        case committed
        /// It is not, and what was live before still is.
        case rolledBack
    }

    /// What became of the artefact an engine makes of a release.
    public enum Preparation: Sendable, Hashable {
        /// The release is best used as it is.
        case notNeeded
        /// The artefact is there; what it is, for people.
        case ready(String)
        /// It could not be made or kept; why.
        case failed(String)
    }

    /// Why a release did not become live.
    public enum Failure: Sendable, Hashable {
        /// Its files are not what was installed.
        case damaged(String)
        /// It did not pass its probe, and is held back.
        case refused(String)
        /// Something else failed, or the user stopped it.
        case stopped
    }

    enum Event: Sendable, Hashable {
        case begun
        case verified
        case damaged(String)
        case prepared(Preparation)
        /// It answered as it should; or nobody here can try it.
        case probePassed
        case probeFailed(String)
        case committed
        /// A step was cancelled, or failed for a reason of its own.
        case stopped(duringSwitch: Bool)
    }

    /// What is to be done, in this order; one of them answers with the next event.
    enum Effect: Sendable, Hashable {
        case mark(ActivityMark.Stage)
        case verify
        case prepare
        case probe(usesPrepared: Bool)
        case dropPrepared
        case commit
        case holdBack(String)
        case unmark
        /// The release before the one before can go.
        case collect
    }

    public let release: ReleaseIdentity
    public private(set) var phase = Phase.staged
    public private(set) var preparation = Preparation.notNeeded
    public private(set) var failure: Failure?

    /// The beginning of the way.
    init(_ release: ReleaseIdentity) { self.release = release }

    /// Whether there is nothing left to do.
    var isOver: Bool { phase == .committed || phase == .rolledBack }

    /// Takes what has happened and says what to do. An event that does not belong to the phase changes nothing.
    mutating func handle(_ event: Event) -> [Effect] {
        switch (phase, event) {
        case (.staged, .begun): return [.mark(.verify), .verify]
        case (.staged, .verified):
            phase = .verified
            return [.mark(.prepare), .prepare]
        case (.staged, .damaged(let what)): return rollBack(.damaged(what))
        case (.verified, .prepared(let outcome)):
            phase = .prepared
            preparation = outcome
            return [.mark(.probe), .probe(usesPrepared: usesPrepared)]
        case (.prepared, .probePassed):
            phase = .probed
            return [.mark(.commit), .commit]
        case (.prepared, .probeFailed(let reason)) where usesPrepared:
            // It may be the artefact's fault and not the release's.
            preparation = .failed(reason)
            return [.dropPrepared, .probe(usesPrepared: false)]
        case (.prepared, .probeFailed(let reason)): return [.holdBack(reason)] + rollBack(.refused(reason))
        case (.probed, .committed):
            phase = .committed
            return [.unmark, .collect]
        case (.probed, .stopped(duringSwitch: true)):
            // The link may be the old one or the new one. The mark stays: the next start finishes the switch.
            phase = .rolledBack
            failure = .stopped
            return []
        case (.staged, .stopped), (.verified, .stopped), (.prepared, .stopped), (.probed, .stopped):
            return rollBack(.stopped)
        default: return []
        }
    }

    private var usesPrepared: Bool { if case .ready = preparation { true } else { false } }

    private mutating func rollBack(_ failure: Failure) -> [Effect] {
        phase = .rolledBack
        self.failure = failure
        return [.unmark]
    }
}
