import Foundation
import HearthBase
import HearthTestSupport
import Testing

@testable import HearthTransfer

@Suite struct ProgressMeterTests {
    @Test func readingsAreAtMostTenASecond() {
        var meter = ProgressMeter()
        var readings = 0
        for step in 0..<10_000 {
            let now = Duration.milliseconds(step)
            if meter.update(state: .downloading, completed: UInt64(step), total: 20_000, at: now) != nil {
                readings += 1
            }
        }
        #expect((99...101).contains(readings))
    }

    @Test func neverGoesBackwardsAndNeverPastTheTotal() {
        var meter = ProgressMeter()
        var last: UInt64 = 0
        var generator = SystemRandomNumberGenerator()
        for step in 1...2_000 {
            let completed = UInt64.random(in: 0...1500, using: &generator)
            let reading = meter.update(
                state: .downloading, completed: completed, total: 1000, at: .milliseconds(step * 100))
            guard let reading else { continue }
            #expect(reading.completedBytes >= last)
            #expect((0...1).contains(reading.fraction ?? 0))
            last = reading.completedBytes
        }
        #expect(last == 1000)
    }

    @Test func theRateSettles() throws {
        var meter = ProgressMeter()
        var reading: TransferProgress?
        for step in 0...100 {
            reading =
                meter.update(
                    state: .downloading, completed: UInt64(step) * 100_000, total: 100_000_000,
                    at: .milliseconds(step * 100)
                ) ?? reading
        }
        let rate = try #require(reading?.bytesPerSecond)
        #expect(abs(rate - 1_000_000) < 1_000)
        let left = try #require(reading?.secondsLeft)
        #expect(abs(left - 90) < 1)
    }

    /// A meter after ten seconds at 100 MB/s.
    private func moving() -> (ProgressMeter, bytes: UInt64, Duration) {
        var meter = ProgressMeter()
        for step in 0...100 {
            _ = meter.update(
                state: .downloading, completed: UInt64(step) * 10_000_000, total: 1 << 40,
                at: .milliseconds(step * 100))
        }
        return (meter, 1_000_000_000, .seconds(10))
    }

    /// Bytes that come again after a mismatch count from nothing, while `completedBytes` never goes down.
    @Test func whatComesAgainIsShownFromItsTrueShare() throws {
        var meter = ProgressMeter()
        _ = meter.update(state: .downloading, completed: 100, total: 100, at: .zero)
        let pause = meter.update(
            state: .retrying(attempt: 2, limit: 3), completed: 0, total: 100, at: .seconds(1))
        #expect(pause?.fraction == 0 && pause?.completedBytes == 100 && pause?.isRepeating == false)
        let again = meter.update(state: .downloading, completed: 40, total: 100, fetched: 140, at: .seconds(3))
        #expect(again?.fraction == 0.4 && again?.completedBytes == 100 && again?.presentBytes == 40)
        #expect(again?.percentText == "40%" && again?.isRepeating == true)
        let held = meter.update(state: .waiting(.offline), completed: 40, total: 100, at: .seconds(4))
        #expect(held?.fraction == 0.4)
        let whole = meter.update(state: .verifying, completed: 100, total: 100, at: .seconds(5))
        #expect(whole?.fraction == 1 && whole?.repeatedBytes == 0)
    }

    @Test func aStandstillIsToldUntilNothingMoves() throws {
        var (meter, bytes, now) = moving()
        var readings: [TransferProgress] = []
        for _ in 0..<6_000 {
            now += .milliseconds(10)
            if let reading = meter.tick(at: now) { readings.append(reading) }
        }
        let rates = readings.compactMap(\.bytesPerSecond)
        #expect(zip(rates, rates.dropFirst()).allSatisfy { $0 > $1 })
        #expect((90...100).contains(rates.count), "ten a second, for ten seconds, and no more")
        let last = try #require(readings.last)
        #expect(last.bytesPerSecond == 0)
        #expect(last.secondsLeft == nil)
        #expect(last.completedBytes == bytes)

        var reading: TransferProgress?
        for _ in 0..<20 {
            now += .milliseconds(100)
            bytes += 8_500_000
            reading = meter.update(state: .downloading, completed: bytes, total: 1 << 40, at: now)
        }
        #expect(abs(try #require(reading?.bytesPerSecond) - 85e6) < 1e3, "what was before the standstill is over")
    }

    @Test func aSampleWeighsAsMuchAsItIsLong() throws {
        var (meter, bytes, now) = moving()
        now += .seconds(60)
        bytes += 8_500_000
        let late = meter.update(state: .downloading, completed: bytes, total: 1 << 40, at: now)
        #expect(try #require(late?.bytesPerSecond) < 1e6, "a minute of nearly nothing")
        var reading: TransferProgress?
        for _ in 0..<150 {
            now += .milliseconds(100)
            bytes += 8_500_000
            reading = meter.update(state: .downloading, completed: bytes, total: 1 << 40, at: now)
        }
        #expect(abs(try #require(reading?.bytesPerSecond) - 85e6) < 1e6)
    }

    @Test(arguments: [200, 500, 1000])
    func theRateDoesNotDependOnHowOftenItIsAskedFor(step: Int) throws {
        func rate(every step: Int) throws -> Double {
            var meter = ProgressMeter()
            var reading: TransferProgress?
            for time in stride(from: 0, through: 8_000, by: step) {
                let bytes = min(time, 5_000) * 10_000 + max(0, time - 5_000) * 20_000
                reading = meter.update(
                    state: .downloading, completed: UInt64(bytes), total: 1 << 40, at: .milliseconds(time))
            }
            return try #require(reading?.bytesPerSecond)
        }
        #expect(abs(try rate(every: step) - rate(every: 100)) < 1)
    }

    @Test func bytesThatCameTooSoonAfterAReadingAreToldWithTheNextTick() {
        var meter = ProgressMeter()
        _ = meter.update(state: .downloading, completed: 1, total: 100, at: .zero)
        #expect(meter.update(state: .downloading, completed: 50, total: 100, at: .milliseconds(10)) == nil)
        #expect(meter.tick(at: .milliseconds(99)) == nil)
        #expect(meter.tick(at: .milliseconds(100))?.completedBytes == 50)
        #expect(meter.tick(at: .milliseconds(105)) == nil)
    }

    @Test func onlyBytesOfTheNetworkAreWaitedFor() {
        var meter = ProgressMeter()
        #expect(meter.tick(at: .seconds(1)) == nil, "nothing was told yet")
        _ = meter.update(state: .waiting(.offline), completed: 5, total: 100, at: .seconds(2))
        for second in 3..<60 { #expect(meter.tick(at: .seconds(second)) == nil) }
    }

    /// 900 MB of 1 GB are here, and the server begins with the first byte: all of it comes at 10 MB/s.
    @Test func bytesThatComeAgainHaveARateAndTakeTheirTime() throws {
        var meter = ProgressMeter()
        _ = meter.update(state: .connecting, completed: 900_000_000, total: 1_000_000_000, fetched: 0, at: .zero)
        var reading: TransferProgress?
        for step in 1...500 {
            let bytes = UInt64(step) * 1_000_000
            reading = meter.update(
                state: .downloading, completed: bytes, total: 1_000_000_000, fetched: bytes,
                at: .milliseconds(step * 100))
        }
        #expect(reading?.completedBytes == 900_000_000)
        #expect(reading?.repeatedBytes == 400_000_000)
        #expect(abs(try #require(reading?.bytesPerSecond) - 10e6) < 1e3)
        #expect(abs(try #require(reading?.secondsLeft) - 50) < 0.1)

        let end = meter.update(
            state: .downloading, completed: 1_000_000_000, total: 1_000_000_000, fetched: 1_000_000_000,
            at: .seconds(100))
        #expect(end?.repeatedBytes == 0 && end?.secondsLeft == 0)
    }

    /// After wrong bytes the count of what came begins anew.
    @Test func anotherAttemptHasARateToo() throws {
        var meter = ProgressMeter()
        _ = meter.update(state: .downloading, completed: 100_000_000, total: 100_000_000, fetched: 7, at: .zero)
        _ = meter.update(state: .verifying, completed: 100_000_000, total: 100_000_000, at: .seconds(1))
        let pause = meter.update(
            state: .retrying(attempt: 2, limit: 3), completed: 0, total: 100_000_000, at: .seconds(2))
        #expect(pause?.repeatedBytes == 100_000_000 && pause?.secondsLeft == nil, "all of it comes again")
        var reading: TransferProgress?
        for step in 0...50 {
            let bytes = UInt64(step) * 1_000_000
            reading = meter.update(
                state: .downloading, completed: bytes, total: 100_000_000, fetched: bytes,
                at: .milliseconds(3_000 + step * 100))
        }
        #expect(abs(try #require(reading?.bytesPerSecond) - 10e6) < 1e3)
        #expect(abs(try #require(reading?.secondsLeft) - 5) < 0.1)
    }

    @Test func anUnknownTotalIsShownAsUnknown() {
        var meter = ProgressMeter()
        let reading = meter.update(state: .downloading, completed: 5, total: nil, at: .zero)
        #expect(reading?.fraction == nil)
        #expect(reading?.secondsLeft == nil)
    }

    @Test func aNewPhaseAndTheEndAreAlwaysTold() {
        var meter = ProgressMeter()
        #expect(meter.update(state: .connecting, completed: 0, total: 10, at: .zero) != nil)
        #expect(meter.update(state: .downloading, completed: 1, total: 10, at: .milliseconds(1)) != nil)
        #expect(meter.update(state: .downloading, completed: 2, total: 10, at: .milliseconds(2)) == nil)
        #expect(meter.update(state: .downloading, completed: 10, total: 10, at: .milliseconds(3)) != nil)
    }
}

@Suite struct RetryScheduleTests {
    @Test func givesUpAfterFruitlessAttemptsInARow() {
        var schedule = RetrySchedule()
        let delays = (0..<5).map { _ in schedule.delay(afterFailureWith: false, jitter: 1) }
        #expect(delays == [.seconds(0.5), .seconds(1), .seconds(2), nil, nil])
    }

    @Test func progressBeginsTheCountAnew() {
        var schedule = RetrySchedule()
        for _ in 0..<100 { #expect(schedule.delay(afterFailureWith: true, jitter: 0) == .seconds(0.25)) }
    }

    @Test func aLimiterSpreadsBytesOverTime() {
        var limiter = RateLimiter(bytesPerSecond: 1000)
        var now = Duration.zero
        for _ in 0..<100 { now += limiter.take(100, at: now) }
        #expect(abs(now.seconds - 9.75) < 0.01, "10,000 bytes at 1,000 a second, a quarter second in advance")
    }
}

@Suite struct TransferJournalTests {
    private func request(_ digest: SHA256Digest?) throws -> TransferRequest {
        let url = try #require(URL(string: "http://127.0.0.1:1/m.gguf?key=1"))
        return TransferRequest(label: "m.gguf", locations: [url], size: .exact(100), digest: digest)
    }

    @Test func comesBackAsWritten() throws {
        let folder = try TemporaryFolder()
        var journal = TransferJournal(digest: SHA256Digest(hashing: [1]), size: 100, location: "x")
        journal.extents = [.init(start: 0, end: 64)]
        try journal.write(folder.path("journal"), in: LocalFileSystem())
        #expect(try TransferJournal.read(folder.path("journal"), in: LocalFileSystem()) == journal)
        #expect(journal.held.prefixEnd == 64)
    }

    @Test(arguments: [
        "", "{", "null", "[]", "{}", #"{"format":2,"location":"x","extents":[]}"#,
        #"{"format":1,"location":"x","extents":[{"start":5,"end":4}]}"#,
        #"{"format":1,"location":"x","size":10,"extents":[{"start":0,"end":11}]}"#,
        #"{"format":1,"location":"x","extents":[{"start":0,"end":9},{"start":8,"end":12}]}"#,
        #"{"format":1,"location":"x","extents":[{"start":-1,"end":9}]}"#,
        #"{"format":1,"location":"x","digest":"zz","extents":[]}"#,
    ])
    func aDamagedJournalIsNoJournal(_ text: String) throws {
        let folder = try TemporaryFolder()
        try folder.write("journal", Data(text.utf8))
        #expect(try TransferJournal.read(folder.path("journal"), in: LocalFileSystem()) == nil)
    }

    @Test func aJournalThatAnotherProcessRemovesMeanwhileIsAbsent() throws {
        let folder = try TemporaryFolder()
        let path = try folder.write("journal", Data("{}".utf8))
        #expect(try TransferJournal.read(path, in: VanishingFiles()) == nil)
    }

    @Test func identityIsTheDigestAndTheSize() throws {
        let digest = SHA256Digest(hashing: [1])
        let journal = TransferJournal(digest: digest, size: 100, location: "elsewhere")
        #expect(journal.describes(try request(digest)))
        #expect(!journal.describes(try request(SHA256Digest(hashing: [2]))))
        #expect(!journal.describes(try request(nil)))
        #expect(!TransferJournal(digest: digest, size: 99, location: "").describes(try request(digest)))
    }

    @Test func withoutADigestOnlyTheSameTagAtTheSamePlaceIsContinued() throws {
        var journal = TransferJournal(digest: nil, size: 100, location: "http://127.0.0.1:1/m.gguf")
        #expect(!journal.describes(try request(nil)))
        journal.entityTag = "\"a\""
        #expect(journal.describes(try request(nil)))
        journal.location = "http://127.0.0.1:2/m.gguf"
        #expect(!journal.describes(try request(nil)))
    }
}

/// Its files disappear after they were looked at.
private struct VanishingFiles: ForwardingFileSystem {
    let base: any FileSystem = LocalFileSystem()

    func open(_ path: Path, _ mode: OpenMode, permissions: UInt32) throws -> OpenFile {
        throw FileError(errno: ENOENT, doing: "open", path: path)
    }
}
