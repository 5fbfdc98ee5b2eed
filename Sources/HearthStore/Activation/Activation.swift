import Foundation
import HearthBase
import HearthCatalog

/// The steps by which an installed release becomes live, as a value: the phase reached and the next effects.
///
/// ```
///  staged ──whole──► verified ──built, or used as it is──► prepared ──answers──► probed ──switched──► committed
///     │                 │                                   │  ▲ │                  │
///     │ damaged,        │ stopped                refused, as │  │ │ refused,        │ stopped
///     │ or stopped      │                        it was built└──┘ │ or stopped      │
///     └────────►────────┴──────────────►──────────────────────────┴────────►────────┴────────► rolledBack
/// ```
/// Before the switch only marks and caches are written: the release before stays live and is never touched. A refused
/// release is recorded as held back. A stop during the switch also counts as `rolledBack`, although the link may
/// already lead to the new release: the mark stays, and the next start finishes the switch unless a later decision
/// overtakes it.
package struct Activation: Sendable, Hashable {
    /// The phase reached.
    package enum Phase: String, Sendable, Hashable, CaseIterable {
        /// Installed, and not checked yet.
        case staged
        /// Every file matches the receipt.
        case verified
        /// Its artifact is built, or it is used without one.
        case prepared
        /// An engine has loaded it and answered correctly.
        case probed
        /// It is live.
        case committed
        /// Not live; the release that was live before still is.
        case rolledBack
    }

    /// Result of building an artifact from a release.
    package enum Preparation: Sendable, Hashable {
        /// The release is best used without an artifact.
        case notNeeded
        /// The artifact is built; its recipe's summary, for people.
        case ready(String)
        /// The artifact could not be built or kept; the reason.
        case failed(String)
    }

    /// Why a release did not become live.
    package enum Failure: Sendable, Hashable {
        /// Its files differ from its receipt.
        case damaged(String)
        /// It failed its probe, and is held back.
        case refused(String)
        /// Another step failed, or the user stopped the activation.
        case stopped
    }

    package enum Event: Sendable, Hashable {
        case begun
        case verified
        case damaged(String)
        case prepared(Preparation)
        /// It answered correctly; or no engine can try it here.
        case probePassed
        case probeFailed(String)
        case committed
        /// A step was cancelled, or failed for a reason that the release did not cause.
        case stopped(duringSwitch: Bool)
    }

    /// Next steps, in this order; one of them answers with the next event.
    package enum Effect: Sendable, Hashable {
        case mark(ActivityMark.Stage)
        case verify
        case prepare
        case probe(usesArtifact: Bool)
        case commit
        case holdBack(String)
        case unmark
        /// Removes releases that the new one has overtaken.
        case collect
    }

    package let release: ReleaseIdentity
    package private(set) var phase = Phase.staged
    package private(set) var preparation = Preparation.notNeeded
    package private(set) var failure: Failure?

    /// An activation in its first phase.
    package init(_ release: ReleaseIdentity) { self.release = release }

    /// Whether no step is left.
    package var isOver: Bool { phase == .committed || phase == .rolledBack }

    /// Applies an event and returns the next effects. An event that does not belong to the phase changes nothing.
    package mutating func handle(_ event: Event) -> [Effect] {
        switch (phase, event) {
        case (.staged, .begun): return [.mark(.verify), .verify]
        case (.staged, .verified):
            phase = .verified
            return [.mark(.prepare), .prepare]
        case (.staged, .damaged(let what)): return rollBack(.damaged(what))
        case (.verified, .prepared(let outcome)):
            phase = .prepared
            preparation = outcome
            return [.mark(.probe), .probe(usesArtifact: usesArtifact)]
        case (.prepared, .probePassed):
            phase = .probed
            return [.mark(.commit), .commit]
        case (.prepared, .probeFailed(let reason)) where usesArtifact:
            // The release may still pass without the artifact.
            preparation = .failed(reason)
            return [.probe(usesArtifact: false)]
        case (.prepared, .probeFailed(let reason)): return [.holdBack(reason)] + rollBack(.refused(reason))
        case (.probed, .committed):
            phase = .committed
            return [.unmark, .collect]
        case (.probed, .stopped(duringSwitch: true)):
            // The link may lead to the old or the new release. The mark stays, and the next start finishes the switch.
            phase = .rolledBack
            failure = .stopped
            return []
        case (.staged, .stopped), (.verified, .stopped), (.prepared, .stopped), (.probed, .stopped):
            return rollBack(.stopped)
        default: return []
        }
    }

    private var usesArtifact: Bool { if case .ready = preparation { true } else { false } }

    private mutating func rollBack(_ failure: Failure) -> [Effect] {
        phase = .rolledBack
        self.failure = failure
        return [.unmark]
    }
}
