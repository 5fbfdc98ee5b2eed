import HearthBase
import HearthTestSupport
import Testing

@testable import HearthTransfer

@Suite struct PieceScheduleTests {
    private static var tuning: TransferTuning {
        var tuning = TransferTuning()
        tuning.pieceLength = 100
        tuning.minimumSplit = 10
        return tuning
    }

    private func schedule(_ total: UInt64?, limit: UInt64 = 10_000, held: [Range<UInt64>] = []) -> PieceSchedule {
        PieceSchedule(total: total, limit: limit, held: RangeSet(held), tuning: Self.tuning)
    }

    @Test func piecesAreHandedOutInOrderAndEndAtTheirBoundaries() {
        var schedule = schedule(350)
        let pieces = (1...5).map { schedule.assign($0, at: .zero) }
        #expect(pieces == [0..<100, 100..<200, 200..<300, 300..<350, nil])
    }

    @Test func whatIsHereIsNotHandedOut() {
        var schedule = schedule(350, held: [0..<120, 210..<330])
        #expect(schedule.assign(1, at: .zero) == 120..<200)
        #expect(schedule.assign(2, at: .zero) == 200..<210)
        #expect(schedule.assign(3, at: .zero) == 330..<350)
        #expect(!schedule.hasUnassigned)
    }

    @Test func aServerThatSendsNoPartsGivesAll() {
        var schedule = schedule(350, held: [0..<120])
        #expect(schedule.assign(1, whole: true, at: .zero) == 120..<350)
        schedule.rewind(1, limit: 350, at: .zero)
        #expect(schedule.assignments[1]?.left == 0..<350)
    }

    @Test func whatWasNotBroughtIsMissingAgain() {
        var schedule = schedule(200)
        _ = schedule.assign(1, at: .zero)
        #expect(schedule.accept(1, 30, at: .seconds(1)) == 30)
        schedule.release(1, at: .seconds(1))
        #expect(schedule.assign(2, at: .seconds(1)) == 30..<100)
    }

    @Test func whatIsOnItsWayAgainIsNotWantedTwice() {
        var schedule = schedule(200)
        _ = schedule.assign(1, at: .zero)
        #expect(schedule.accept(1, 30, at: .zero) == 30)
        schedule.putBack(0..<100)
        #expect(schedule.missing == RangeSet([0..<30, 100..<200]))
        schedule.release(1, at: .zero)
        #expect(schedule.missing == RangeSet(0..<200))
    }

    @Test func nobodyAcceptsMoreThanItsOwn() {
        var schedule = schedule(100)
        _ = schedule.assign(1, at: .zero)
        #expect(schedule.accept(1, 500, at: .zero) == 100)
        #expect(schedule.accept(1, 1, at: .zero) == 0)
        #expect(schedule.accept(7, 1, at: .zero) == 0, "a worker without a job")
        #expect(schedule.isComplete)
    }

    @Test func theSlowestGivesAShareByItsPace() {
        var schedule = schedule(200)
        _ = schedule.assign(1, at: .zero)
        _ = schedule.assign(2, at: .zero)
        _ = schedule.accept(1, 100, at: .seconds(1))
        schedule.release(1, at: .seconds(1))
        _ = schedule.accept(2, 20, at: .seconds(1))
        // One brings 100 a second, the other 20: of the 80 left, five sixths change hands.
        #expect(schedule.assign(1, at: .seconds(1)) == 133..<200)
        #expect(schedule.accept(2, 100, at: .seconds(1)) == 13, "it ends where the other begins")
    }

    @Test func nearlyDoneIsLeftAlone() {
        var schedule = schedule(100)
        _ = schedule.assign(1, at: .zero)
        _ = schedule.accept(1, 95, at: .seconds(1))
        #expect(schedule.assign(2, at: .seconds(1)) == nil)
        #expect(schedule.assign(2, at: .seconds(2)) == nil)
    }

    @Test func whoFallsSilentLosesEverything() {
        var schedule = schedule(100)
        _ = schedule.assign(1, at: .zero)
        _ = schedule.accept(1, 80, at: .seconds(1))
        _ = schedule.accept(1, 15, at: .seconds(5))
        #expect(schedule.assign(2, at: .seconds(8)) == 95..<100)
        #expect(schedule.accept(1, 5, at: .seconds(9)) == 0, "too late")
        #expect(schedule.accept(2, 5, at: .seconds(9)) == 5)
        #expect(schedule.isComplete)
    }

    @Test func aLengthThatComesLateCutsWhatIsMissing() {
        var schedule = schedule(nil, limit: 1000)
        #expect(schedule.assign(1, at: .zero) == 0..<100)
        schedule.settle(total: 150)
        #expect(schedule.assign(2, at: .zero) == 100..<150)
        #expect(!schedule.hasUnassigned)
        #expect(!schedule.isComplete)
    }

    @Test func anEmptyFileIsComplete() { #expect(schedule(0).isComplete) }

    /// Workers that come, bring something, fail and help each other at random never get a byte twice and leave none out.
    @Test(arguments: 0..<50 as Range<UInt64>)
    func everyByteComesOnce(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let total = UInt64.random(in: 1...3_000, using: &random)
        var schedule = schedule(total)
        var here = RangeSet<UInt64>()
        var now = Duration.zero
        var steps = 0
        while !schedule.isComplete, steps < 100_000 {
            steps += 1
            now += .milliseconds(Int.random(in: 0...900, using: &random))
            let worker = Int.random(in: 0..<6, using: &random)
            guard let assignment = schedule.assignments[worker] else {
                _ = schedule.assign(worker, at: now)
                continue
            }
            let count = schedule.accept(worker, Int.random(in: 0...60, using: &random), at: now)
            let bytes = assignment.left.lowerBound..<(assignment.left.lowerBound + UInt64(count))
            #expect(here.intersection(RangeSet(bytes)).isEmpty)
            here.insert(contentsOf: bytes)
            let isEnd = schedule.assignments[worker]?.left.isEmpty ?? true
            if isEnd || Int.random(in: 0..<10, using: &random) == 0 { schedule.release(worker, at: now) }
        }
        #expect(here == RangeSet(0..<total))
    }
}
