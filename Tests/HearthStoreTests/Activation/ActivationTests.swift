import Foundation
import HearthBase
import HearthTestSupport
import Testing

@testable import HearthCatalog
@testable import HearthStore

/// The rules of activation, on values alone.
@Suite struct ActivationTests {
    private static let events: [Activation.Event] = [
        .begun, .verified, .damaged("d"), .prepared(.notNeeded), .prepared(.failed("f")), .prepared(.ready("r")),
        .probePassed, .probeFailed("p"), .committed, .stopped(duringSwitch: false), .stopped(duringSwitch: true),
    ]

    /// The ways to each phase that is not an end.
    private static let ways: [String: [Activation.Event]] = [
        "staged": [.begun], "verified": [.begun, .verified], "prepared": [.begun, .verified, .prepared(.notNeeded)],
        "prepared, failed": [.begun, .verified, .prepared(.failed("f"))],
        "prepared, built": [.begun, .verified, .prepared(.ready("r"))],
        "probed": [.begun, .verified, .prepared(.notNeeded), .probePassed],
    ]

    private struct Step: Sendable {
        var phase: Activation.Phase
        var effects: [Activation.Effect]
        var failure: Activation.Failure?
    }

    /// Every transition there is; whatever is not here changes nothing.
    private static let table: [String: [Activation.Event: Step]] = {
        let stopped = Step(phase: .rolledBack, effects: [.unmark], failure: .stopped)
        let refused = Step(phase: .rolledBack, effects: [.holdBack("p"), .unmark], failure: .refused("p"))
        let passed = Step(phase: .probed, effects: [.mark(.commit), .commit])
        let stops: [Activation.Event: Step] = [
            .stopped(duringSwitch: false): stopped, .stopped(duringSwitch: true): stopped,
        ]
        func with(_ more: [Activation.Event: Step]) -> [Activation.Event: Step] { stops.merging(more) { $1 } }
        return [
            "staged": with([
                .begun: Step(phase: .staged, effects: [.mark(.verify), .verify]),
                .verified: Step(phase: .verified, effects: [.mark(.prepare), .prepare]),
                .damaged("d"): Step(phase: .rolledBack, effects: [.unmark], failure: .damaged("d")),
            ]),
            "verified": with([
                .prepared(.notNeeded): Step(phase: .prepared, effects: [.mark(.probe), .probe(usesArtifact: false)]),
                .prepared(.failed("f")): Step(phase: .prepared, effects: [.mark(.probe), .probe(usesArtifact: false)]),
                .prepared(.ready("r")): Step(phase: .prepared, effects: [.mark(.probe), .probe(usesArtifact: true)]),
            ]),
            "prepared": with([.probePassed: passed, .probeFailed("p"): refused]),
            "prepared, failed": with([.probePassed: passed, .probeFailed("p"): refused]),
            "prepared, built": with([
                .probePassed: passed,
                .probeFailed("p"): Step(phase: .prepared, effects: [.probe(usesArtifact: false)]),
            ]),
            "probed": with([
                .committed: Step(phase: .committed, effects: [.unmark, .collect]),
                // The mark stays: the next start finishes the switch.
                .stopped(duringSwitch: true): Step(phase: .rolledBack, effects: [], failure: .stopped),
            ]),
        ]
    }()

    @Test func everyTransitionIsTheOneOfTheTable() throws {
        let identity = try StoreFixture.identity()
        for (name, way) in Self.ways {
            for event in Self.events {
                var activation = Activation(identity)
                for step in way { _ = activation.handle(step) }
                let before = activation
                let effects = activation.handle(event)
                guard let step = Self.table[name]?[event] else {
                    #expect(effects.isEmpty && activation == before, "\(name), \(event)")
                    continue
                }
                #expect(activation.phase == step.phase, "\(name), \(event)")
                #expect(effects == step.effects, "\(name), \(event)")
                #expect(activation.failure == step.failure, "\(name), \(event)")
            }
        }
    }

    @Test func anEndIsAnEnd() throws {
        for end in [Activation.Event.committed, .stopped(duringSwitch: true), .stopped(duringSwitch: false)] {
            var activation = Activation(try StoreFixture.identity())
            for step in Self.ways["probed"] ?? [] { _ = activation.handle(step) }
            _ = activation.handle(end)
            #expect(activation.isOver)
            for event in Self.events {
                let before = activation
                #expect(activation.handle(event).isEmpty)
                #expect(activation == before)
            }
        }
    }

    @Test func anArtifactIsProbedOnceAndThenTheReleaseItself() throws {
        var activation = Activation(try StoreFixture.identity())
        for step in Self.ways["prepared, built"] ?? [] { _ = activation.handle(step) }
        #expect(activation.handle(.probeFailed("bad")) == [.probe(usesArtifact: false)])
        #expect(activation.preparation == .failed("bad"))
        #expect(activation.handle(.probeFailed("worse")) == [.holdBack("worse"), .unmark])
        #expect(activation.failure == .refused("worse"))
    }
}
