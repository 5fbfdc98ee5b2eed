import Foundation
import HearthBase
import HearthTestSupport
import Testing

@Suite(.timeLimit(.minutes(10))) struct TimeTests {
    @Test func sleepersWakeWhenTheirMomentComes() async throws {
        let clock = ManualClock()
        let time = clock.time
        let woken = Locked<[Int]>([])
        try await withThrowingTaskGroup(of: Void.self) { group in
            for seconds in [1, 2] {
                group.addTask {
                    try await time.sleep(for: .seconds(seconds))
                    woken.withLock { $0.append(seconds) }
                }
            }
            await clock.sleepers(atLeast: 2)
            clock.advance(by: .milliseconds(999))
            #expect(woken.withLock { $0 } == [])
            clock.advance(by: .milliseconds(1))
            try await group.next()
            #expect(woken.withLock { $0 } == [1])
            clock.advance(by: .seconds(5))
            try await group.waitForAll()
        }
        #expect(woken.withLock { $0 } == [1, 2])
    }

    @Test func aCancelledSleeperThrowsAtOnce() async {
        let clock = ManualClock()
        let task = Task { try await clock.time.sleep(for: .seconds(3600)) }
        await clock.sleepers(atLeast: 1)
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        // Nobody is left to wake.
        clock.advance(by: .seconds(7200))
    }

    @Test func aTaskCancelledBeforehandDoesNotSleep() async {
        let clock = ManualClock()
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            try await clock.time.sleep(for: .seconds(1))
        }
        await #expect(throws: CancellationError.self) { try await task.value }
    }

    @Test func aMomentThatHasPassedIsNoWait() async throws {
        let clock = ManualClock()
        try await clock.time.sleep(for: .zero)
        try await clock.time.sleep(for: .seconds(-1))
    }

    @Test func theSystemsSleepIsCancelledToo() async {
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            try await TimeSource.system.sleep(for: .seconds(3600))
        }
        await #expect(throws: CancellationError.self) { try await task.value }
    }

    @Test func stopwatchAndCalendarMoveTogether() {
        let clock = ManualClock(start: Date(timeIntervalSince1970: 1000))
        let stopwatch = clock.time.stopwatch()
        #expect(stopwatch.elapsed == .zero)
        clock.advance(by: .milliseconds(1500))
        #expect(stopwatch.elapsed == .milliseconds(1500))
        #expect(clock.time.now == Date(timeIntervalSince1970: 1001.5))
        #expect(clock.time.stopwatch().elapsed == .zero)
        #expect(Duration.milliseconds(1500).seconds == 1.5)
    }

    @Test func theSystemsClockGoesForward() {
        let stopwatch = TimeSource.system.stopwatch()
        let first = stopwatch.elapsed
        #expect(first >= .zero && stopwatch.elapsed >= first)
        #expect(abs(TimeSource.system.now.timeIntervalSinceNow) < 60)
    }
}
