import HearthBase
import HearthTestSupport
import Testing

@testable import HearthTransfer

@Suite struct ConnectionGovernorTests {
    /// Runs a governor for some seconds on a network whose rate follows from the number of connections.
    private func run(
        _ governor: inout ConnectionGovernor, seconds: Double, from start: Duration = .zero, rate: (Int) -> Double
    ) -> (targets: [Int], now: Duration) {
        var targets = [governor.target]
        var now = start
        while now < start + .seconds(seconds) {
            now += .milliseconds(20)
            let bytes = Int(rate(governor.target) * 0.02)
            if governor.received(bytes, inUse: governor.target, at: now) { targets.append(governor.target) }
        }
        return (targets, now)
    }

    @Test func aServerThatLimitsEachConnectionGetsAll() {
        var governor = ConnectionGovernor(TransferTuning())
        let targets = run(&governor, seconds: 3) { 10e6 * Double($0) }.targets
        #expect(targets == [4, 8, 16])
    }

    @Test func aFullLineKeepsWhatItHasAndIsTriedAgainLater() {
        var governor = ConnectionGovernor(TransferTuning())
        let (targets, now) = run(&governor, seconds: 14) { _ in 50e6 }
        #expect(targets == [4, 8, 4])
        #expect(run(&governor, seconds: 8, from: now) { _ in 50e6 }.targets == [4, 8, 4])
    }

    /// Windows of the trials in which the machine was busy with something else, by their numbers from 0 on.
    @Test(arguments: [[1], [2], [1, 3], [1, 2], [1, 2, 4, 5], [2, 3]])
    func spoiledWindowsDoNotStopIt(_ spoiled: [Int]) {
        var governor = ConnectionGovernor(TransferTuning())
        var now = Duration.zero
        var windows = 0
        while now < .seconds(6) {
            now += .milliseconds(20)
            windows = Int(now.seconds / ConnectionGovernor.window.seconds)
            let share = spoiled.contains(windows) ? 0.4 : 1
            governor.received(Int(10e6 * Double(governor.target) * 0.02 * share), inUse: governor.target, at: now)
        }
        #expect(governor.target == 16)
    }

    /// Each connection gets so much, and every window is another share of that: the seeds are those of the shares.
    @Test(arguments: 0..<200 as Range<UInt64>) func aLimitOfEachConnectionIsAlwaysFound(_ seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        var governor = ConnectionGovernor(TransferTuning())
        var now = Duration.zero
        while now < .seconds(6) {
            let share = Double.random(in: 0.6...1, using: &generator)
            for _ in 0..<10 {
                now += .milliseconds(60)
                governor.received(Int(10e6 * Double(governor.target) * 0.06 * share), inUse: governor.target, at: now)
            }
        }
        #expect(governor.target == 16)
    }

    /// Connections take their time to be there: the trial waits for them, and is not forgotten.
    @Test func connectionsThatAreNotThereYetAreWaitedFor() {
        var governor = ConnectionGovernor(TransferTuning())
        var now = run(&governor, seconds: 0.7) { 10e6 * Double($0) }.now
        #expect(governor.target == 8)
        for _ in 0..<100 {
            now += .milliseconds(20)
            governor.received(800_000, inUse: 4, at: now)
        }
        #expect(governor.target == 8, "nothing is known of eight yet")
        #expect(run(&governor, seconds: 3, from: now) { _ in 40e6 }.targets == [8, 4], "and they bring nothing")
    }

    @Test func aLineThatIsFullAtEightStopsThere() {
        var governor = ConnectionGovernor(TransferTuning())
        #expect(run(&governor, seconds: 5) { 10e6 * Double(min($0, 8)) }.targets == [4, 8, 16, 8])
    }

    @Test func aBusyServerIsAskedForLessForAWhile() {
        var governor = ConnectionGovernor(TransferTuning())
        var now = run(&governor, seconds: 3) { 10e6 * Double($0) }.now
        for _ in 0..<4 { governor.refused(at: now) }
        #expect(governor.target == 8, "told four times at once is told once")
        now = run(&governor, seconds: 20, from: now) { 10e6 * Double($0) }.now
        #expect(governor.target == 8)
        _ = run(&governor, seconds: 20, from: now) { 10e6 * Double($0) }
        #expect(governor.target == 16)
    }

    @Test func neverLeavesItsBounds() {
        var tuning = TransferTuning()
        tuning.initialConnections = 99
        tuning.maximumConnections = 99
        #expect(ConnectionGovernor(tuning).target == 16)
        tuning.maximumConnections = 0
        var governor = ConnectionGovernor(tuning)
        #expect(governor.target == 1)
        governor.refused(at: .zero)
        #expect(governor.target == 1)
    }

    @Test func whatIsNotInUseMeasuresNothing() {
        var governor = ConnectionGovernor(TransferTuning())
        for step in 0..<500 {
            governor.received(1_000_000, inUse: 2, at: .milliseconds(20 * step))
        }
        #expect(governor.target == 4)
    }
}

@Suite struct SourceBoardTests {
    private struct Misfortune: Error, Equatable { var number = 0 }

    private func choice(_ board: inout SourceBoard, at now: Duration = .zero) -> String {
        switch board.choose(at: now) {
        case .use(let source): "\(source)"
        case .wait(let pause): "wait \(pause.seconds)"
        case .none: "none"
        }
    }

    @Test func everybodyIsTriedAndTheQuickestIsAskedFirst() {
        var board = SourceBoard(count: 3, mayMix: true)
        #expect((0..<3).map { _ in choice(&board) } == ["0", "1", "2"])
        board.left(0, bytes: 1_000, after: .seconds(1))
        board.left(1, bytes: 9_000, after: .seconds(1))
        board.left(2, bytes: 5_000, after: .seconds(1))
        #expect((0..<3).map { _ in choice(&board) } == ["1", "1", "1"])
        // Crowded, its connections get slower, and the next one is asked.
        for _ in 0..<3 { board.left(1, bytes: 1_000, after: .seconds(1)) }
        #expect(choice(&board) == "2")
    }

    @Test func withoutADigestOnlyOneIsAsked() {
        var board = SourceBoard(count: 2, mayMix: false)
        #expect((0..<3).map { _ in choice(&board) } == ["0", "0", "0"])
        board.giveUp(0, Misfortune())
        #expect(choice(&board) == "1")
    }

    @Test func severalConnectionsThatFailAtOnceAreOneFailure() {
        var board = SourceBoard(count: 1, mayMix: true)
        var budget = RetryBudget()
        for _ in 0..<20 { _ = board.failed(0, Misfortune(), requested: nil, jitter: 1, at: .zero, &budget) }
        #expect(choice(&board) == "wait 0.5")
        #expect(choice(&board, at: .milliseconds(500)) == "0")
    }

    @Test func fruitlessRoundsEndIt() {
        var board = SourceBoard(count: 1, mayMix: true)
        var budget = RetryBudget()
        var now = Duration.zero
        for _ in 0..<4 {
            #expect(choice(&board, at: now) == "0")
            _ = board.failed(0, Misfortune(), requested: nil, jitter: 0, at: now, &budget)
            now += .seconds(10)
        }
        #expect(choice(&board, at: now) == "none")
        #expect(!board.hasAny)
    }

    @Test func aBrokenConnectionAmongOthersPausesAlone() {
        var board = SourceBoard(count: 1, mayMix: true)
        var budget = RetryBudget()
        board.progressed(0)
        #expect(board.failed(0, Misfortune(), requested: nil, jitter: 0, at: .zero, &budget) == .milliseconds(250))
        #expect(choice(&board) == "0", "the others go on")
    }

    @Test func whoAskedToBeLeftAloneIs() {
        var board = SourceBoard(count: 2, mayMix: true)
        var budget = RetryBudget()
        board.progressed(0)
        #expect(board.failed(0, Misfortune(), requested: .seconds(60), jitter: 1, at: .zero, &budget) == .zero)
        #expect(choice(&board) == "1")
        board.giveUp(1, Misfortune())
        #expect(choice(&board) == "wait 60.5")
    }
}

@Suite struct PartLedgerTests {
    private func ledger(_ lengths: UInt32...) -> PartLedger {
        PartLedger(
            index: ChunkIndex(kind: .contentDefined, lengths: lengths.map { ($0, SHA256Digest(hashing: [UInt8($0)])) }))
    }

    @Test func chunksAreCheckedWhenTheirLastByteIsHere() {
        var ledger = ledger(10, 20, 5)
        #expect(ledger.wrote(0..<9) == [])
        #expect(ledger.wrote(12..<35) == [2])
        #expect(ledger.wrote(9..<12) == [0, 1])
        #expect(ledger.checked(1, isRight: true) == nil)
        #expect(ledger.settledEnd(hashed: 0) == 0, "the first one is not proven yet")
        #expect(ledger.checked(0, isRight: true) == nil)
        #expect(ledger.settledEnd(hashed: 0) == 30)
        #expect(ledger.frontier == 0, "chunks are checked, not the whole")
        #expect(ledger.checked(2, isRight: false) == 30..<35)
        #expect(ledger.writtenCount == 30)
        #expect(ledger.wrote(30..<35) == [2], "and again")
    }

    @Test func whatIsProvenIsNotWrittenAgain() {
        var ledger = ledger(10, 20, 5)
        _ = ledger.wrote(0..<35)
        _ = ledger.checked(1, isRight: true)
        #expect(ledger.writable(0..<35) == [0..<10, 30..<35])
        ledger.forgetUnproven()
        #expect(ledger.written == RangeSet(10..<30))
        #expect(ledger.checked(0, isRight: true) == nil)
        #expect(ledger.proven == RangeSet(10..<30), "a check of bytes that were forgotten proves nothing")
    }

    @Test func withoutAnIndexTheBytesWithoutAGapCount() {
        var ledger = PartLedger()
        #expect(ledger.wrote(5..<10) == [])
        #expect(ledger.frontier == 0)
        _ = ledger.wrote(0..<5)
        #expect(ledger.frontier == 10)
        ledger.forgetUnproven()
        #expect(ledger.frontier == 0)
    }
}
