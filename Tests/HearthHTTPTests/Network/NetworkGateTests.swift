import Foundation
import HearthBase
import HearthTestSupport
import Testing

@testable import HearthHTTP

@Suite(.timeLimit(.minutes(10))) struct NetworkGateTests {
    private static let far = [URL(string: "https://models.example.org/m.gguf")].compactMap(\.self)
    private static let near = [URL(string: "http://127.0.0.1:1/m.gguf")].compactMap(\.self)

    /// Work under a gate, with what happened in order; a run waits for ``finish(with:)`` or its cancellation.
    private final class Scene: Sendable {
        struct Failure: Error {}
        enum Order: Sendable { case succeed, fail, surviveCancellation, failWhenCancelled }

        let monitor: ScriptedNetworkMonitor
        let gate: NetworkGate
        let clock = ManualClock()
        private let events = Locked<[String]>([])
        private let happened: AsyncStream<String>
        private let happens: AsyncStream<String>.Continuation
        /// Orders nobody has taken yet, and the run that waits for one.
        private let orders = Locked<(pending: [Order], run: AsyncStream<Order>.Continuation?)>(([], nil))

        init(
            _ condition: NetworkCondition? = .unrestricted, metered: MeteredUse = .deny,
            settling: Duration = .zero
        ) {
            monitor = ScriptedNetworkMonitor(condition)
            gate = NetworkGate(
                policy: NetworkPolicy(metered: metered), monitor: monitor, settling: settling,
                time: clock.time)
            (happened, happens) = AsyncStream.makeStream()
        }

        var log: [String] { events.withLock { $0 } }

        private func note(_ event: String) {
            events.withLock { $0.append(event) }
            happens.yield(event)
        }

        /// Returns when `event` has happened once more.
        func next(_ event: String) async {
            for await each in happened where each == event { return }
        }

        func order(_ order: Order) {
            let run = orders.withLock { orders in
                defer { orders.run = nil }
                if orders.run == nil { orders.pending.append(order) }
                return orders.run
            }
            run?.yield(order)
        }

        func begin(_ locations: [URL] = NetworkGateTests.far) -> Task<Int, any Error> {
            Task {
                do {
                    let result = try await gate.whileAllowed(locations: locations) { hold in
                        note(hold.map { "\($0)" } ?? "released")
                    } body: { [self] in
                        try await run()
                    }
                    note("result")
                    return result
                } catch {
                    note("thrown")
                    throw error
                }
            }
        }

        private func run() async throws -> Int {
            note("run")
            // A stream of its own for each run: one that was cancelled has ended.
            let (stream, source) = AsyncStream<Order>.makeStream()
            orders.withLock { orders in
                if orders.pending.isEmpty { orders.run = source } else { source.yield(orders.pending.removeFirst()) }
            }
            switch await stream.first(where: { _ in true }) {
            case .succeed: return 1
            case .surviveCancellation:
                await cancelled()
                return 2
            case .failWhenCancelled:
                await cancelled()
                throw Failure()
            case .fail: throw Failure()
            case nil:
                note("stopped")
                throw CancellationError()
            }
        }

        private func cancelled() async {
            let (never, source) = AsyncStream<Never>.makeStream()
            for await _ in never {}
            source.finish()
        }
    }

    @Test func exemptAddressesAreNobodysBusiness() async throws {
        let scene = Scene(.offline)
        let task = scene.begin(Self.near)
        scene.order(.succeed)
        #expect(try await task.value == 1)
        #expect(scene.log == ["run", "result"])
        #expect(try await scene.gate.admitted(Self.near) == Self.near)
        #expect(scene.monitor.watcherCount == 0)
    }

    @Test(arguments: [(NetworkCondition.metered, "metered-network"), (.offline, "offline")])
    func whoIsNotToWaitFails(condition: NetworkCondition, code: String) async throws {
        let scene = Scene(condition)
        let error = await #expect(throws: NetworkError.self) { try await scene.gate.admitted(Self.far) }
        #expect(error?.codeText == code)
        #expect(error?.disposition.exitStatus == 75)
        // Of a mixed list the exempt ones can still be asked.
        #expect(try await scene.gate.admitted(Self.far + Self.near) == Self.near)
    }

    @Test func allowedIsAllowed() async throws {
        let scene = Scene(.metered, metered: .allow)
        let task = scene.begin()
        scene.order(.succeed)
        #expect(try await task.value == 1)
        #expect(try await scene.gate.admitted(Self.far + Self.near) == Self.far + Self.near)
    }

    @Test func whoWaitsBeginsByItself() async throws {
        let scene = Scene(.metered)
        let task = scene.begin()
        await scene.next("metered")
        #expect(scene.log == ["metered"])
        scene.monitor.change(to: .unrestricted)
        await scene.next("run")
        scene.order(.succeed)
        #expect(try await task.value == 1)
        #expect(scene.log == ["metered", "released", "run", "result"])
    }

    @Test func whatIsNotKnownYetIsWaitedFor() async throws {
        let scene = Scene(nil)
        let task = Task { try await scene.gate.admitted(Self.far) }
        await scene.monitor.nextWatcher()
        scene.monitor.change(to: .metered)
        await #expect(throws: NetworkError.self) { try await task.value }
    }

    @Test func aHoldStopsTheBodyAndItsEndBeginsItAgain() async throws {
        let scene = Scene()
        let task = scene.begin()
        for hold in [NetworkCondition.metered, .offline] {
            await scene.next("run")
            scene.monitor.change(to: hold)
            await scene.next(hold == .metered ? "metered" : "offline")
            scene.monitor.change(to: .unrestricted)
        }
        await scene.next("run")
        scene.order(.succeed)
        #expect(try await task.value == 1)
        #expect(
            scene.log == [
                "run", "stopped", "metered", "released", "run", "stopped", "offline", "released", "run", "result",
            ])
    }

    @Test func anotherReasonIsReportedTheSameIsNot() async throws {
        let scene = Scene(.metered)
        let task = scene.begin()
        await scene.next("metered")
        scene.monitor.change(to: .offline)
        await scene.next("offline")
        // Another condition, the same reason to wait.
        scene.monitor.change(to: NetworkCondition(isOnline: false, isMetered: true))
        scene.monitor.change(to: .metered)
        await scene.next("metered")
        scene.monitor.change(to: .unrestricted)
        scene.order(.succeed)
        #expect(try await task.value == 1)
        #expect(scene.log == ["metered", "offline", "metered", "released", "run", "result"])
    }

    @Test func aChangeThatDoesNotLastIsNone() async throws {
        let scene = Scene(settling: .seconds(1))
        let task = scene.begin()
        await scene.next("run")
        // Away and back within the second: nobody notices.
        scene.monitor.change(to: .offline)
        await scene.clock.sleepers(atLeast: 1)
        scene.monitor.change(to: .unrestricted)
        scene.clock.advance(by: .seconds(1))
        await scene.monitor.nextReading()
        // Away for longer.
        scene.monitor.change(to: .metered)
        await scene.clock.sleepers(atLeast: 1)
        #expect(scene.log == ["run"], "not before it has lasted")
        scene.clock.advance(by: .seconds(1))
        await scene.next("metered")
        await scene.monitor.nextReading()
        // Back, but not for long enough.
        scene.monitor.change(to: .unrestricted)
        await scene.clock.sleepers(atLeast: 1)
        scene.monitor.change(to: .metered)
        scene.clock.advance(by: .seconds(1))
        await scene.monitor.nextReading()
        scene.monitor.change(to: .unrestricted)
        await scene.clock.sleepers(atLeast: 1)
        #expect(scene.log == ["run", "stopped", "metered"])
        scene.clock.advance(by: .seconds(1))
        await scene.next("run")
        scene.order(.succeed)
        #expect(try await task.value == 1)
        #expect(scene.log == ["run", "stopped", "metered", "released", "run", "result"])
    }

    @Test func cancellingWhileHeldEndsAtOnce() async throws {
        let scene = Scene(.offline)
        let task = scene.begin()
        await scene.next("offline")
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(scene.log == ["offline", "thrown"])
        #expect(scene.monitor.watcherCount == 0)
    }

    @Test func cancellingWhileItSettlesEndsAtOnce() async throws {
        let scene = Scene(.offline, settling: .seconds(3600))
        let task = scene.begin()
        await scene.next("offline")
        scene.monitor.change(to: .unrestricted)
        await scene.clock.sleepers(atLeast: 1)
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(scene.log == ["offline", "thrown"])
    }

    @Test func cancellingWhileItRunsStopsTheBody() async throws {
        let scene = Scene()
        let task = scene.begin()
        await scene.next("run")
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(scene.log == ["run", "stopped", "thrown"])
        #expect(scene.monitor.watcherCount == 0)
    }

    @Test func cancelledBeforeItBeganNothingRuns() async throws {
        let scene = Scene(nil)
        let task = scene.begin()
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(!scene.log.contains("released"))
    }

    @Test func aFailureIsTheBodysOwn() async throws {
        let scene = Scene()
        let task = scene.begin()
        scene.order(.fail)
        await #expect(throws: Scene.Failure.self) { try await task.value }
        #expect(scene.log == ["run", "thrown"], "it is not run again")
    }

    @Test func aFailureWhileStoppingIsNotLost() async throws {
        let scene = Scene()
        let task = scene.begin()
        await scene.next("run")
        scene.order(.failWhenCancelled)
        scene.monitor.change(to: .metered)
        await #expect(throws: Scene.Failure.self) { try await task.value }
    }

    @Test func whatIsDoneIsDone() async throws {
        let scene = Scene()
        let task = scene.begin()
        await scene.next("run")
        scene.order(.surviveCancellation)
        scene.monitor.change(to: .metered)
        #expect(try await task.value == 2)
        #expect(scene.log == ["run", "result"])
    }

    @Test func aMonitorThatEndsChangesNothingAnyMore() async throws {
        let running = Scene()
        let task = running.begin()
        await running.next("run")
        running.monitor.end()
        running.order(.succeed)
        #expect(try await task.value == 1)

        let held = Scene(.metered)
        let waiting = held.begin()
        await held.next("metered")
        held.monitor.end()
        let error = await #expect(throws: NetworkError.self) { try await waiting.value }
        #expect(error?.code == .meteredNetwork, "waiting for ever would help nobody")
    }

    @Test(arguments: [1, 2, 3, 4, 5] as [UInt64]) func flappingNeverRunsItTwiceAtOnce(seed: UInt64) async throws {
        let monitor = ScriptedNetworkMonitor()
        let gate = NetworkGate(policy: NetworkPolicy(), monitor: monitor, settling: .zero, time: HurriedClock().time)
        let running = Locked(0)
        let problems = Locked<[String]>([])
        let isEnough = Locked(false)
        let task = Task {
            try await gate.whileAllowed(locations: Self.far) { hold in
                if running.withLock({ $0 }) != 0 {
                    problems.withLock { $0.append("\(String(describing: hold)) beside") }
                }
            } body: {
                let others = running.withLock { running in
                    defer { running += 1 }
                    return running
                }
                defer { running.withLock { $0 -= 1 } }
                if others != 0 { problems.withLock { $0.append("two bodies") } }
                while !isEnough.withLock({ $0 }) {
                    try Task.checkCancellation()
                    await Task.yield()
                }
            }
        }
        var random = SeededGenerator(seed: seed)
        for _ in 0..<300 {
            monitor.change(to: [.unrestricted, .metered, .offline].randomElement(using: &random) ?? .unrestricted)
            for _ in 0..<Int.random(in: 0..<20, using: &random) { await Task.yield() }
        }
        monitor.change(to: .unrestricted)
        isEnough.withLock { $0 = true }
        try await task.value
        #expect(problems.withLock { $0 }.isEmpty)
    }
}
