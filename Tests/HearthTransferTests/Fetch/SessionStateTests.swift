import Foundation
import HearthBase
import HearthTestSupport
import Testing

@testable import HearthTransfer

/// What one session still knows of what was before everything began again.
@Suite struct SessionStateTests {
    private struct Misfortune: Error {}

    private func state(_ size: FileSize, indexed: Bool = false) throws -> SessionState {
        let bytes = Data(repeating: 1, count: 300)
        var request = TransferRequest(
            label: "m.gguf", locations: [try #require(URL(string: "http://127.0.0.1:1/m.gguf"))], size: size,
            digest: SHA256Digest(hashing: bytes))
        if indexed {
            var builder = ChunkIndexBuilder(length: 100)
            bytes.withUnsafeBytes { builder.update($0) }
            request.index = try builder.finalize().index
        }
        var tuning = TransferTuning()
        tuning.pieceLength = 100
        tuning.stragglerInterval = nil
        return SessionState(request, held: RangeSet(), tuning: tuning)
    }

    /// The job of the one worker there is.
    private func job(_ state: inout SessionState) throws -> SessionState.Job {
        let workers = state.newWorkers()
        for worker in workers.dropFirst() { state.ended(worker) }
        guard case .fetch(let job) = try state.next(try #require(workers.first), at: .zero) else { throw Misfortune() }
        return job
    }

    /// Brings everything a job is there for.
    private func bring(_ job: SessionState.Job, _ state: inout SessionState) {
        state.opened(job, isPart: true, total: 300)
        _ = state.received(job.range.count, by: job, at: .zero)
        state.finish(job, bytes: UInt64(job.range.count), at: .zero)
        state.release(job, at: .zero)
        state.ended(job.worker)
    }

    /// A wrong chunk waits for its pause when everything begins again, and it with it.
    @Test func whatWasToComeLaterComesOnce() throws {
        var state = try state(.exact(300), indexed: true)
        for _ in 0..<3 { bring(try job(&state), &state) }
        state.wanted(100..<200, chunk: 1, error: Misfortune(), at: .zero)
        #expect(!state.isComplete && !state.schedule.hasUnassigned, "its pause is not over")
        state.restart(held: RangeSet([0..<100, 200..<300]), total: 300, giving: nil, at: .zero)
        let again = try job(&state)
        #expect(again.range == 100..<200)
        bring(again, &state)
        #expect(state.isComplete)
    }

    @Test(arguments: [false, true])
    func theEndOfAnAnswerFromBeforeIsNotTheEnd(isStale: Bool) throws {
        var state = try state(.about(300, limit: 1_000))
        let job = try job(&state)
        if isStale { state.restart(held: RangeSet(), total: nil, giving: job.worker, at: .zero) }
        state.settle(total: 0, by: job)
        #expect(state.schedule.total == (isStale ? nil : 0))
    }

    /// Each connection brings bytes and is then cut: no failure counts as one without progress, also if no other
    /// connection brings bytes before the next failure.
    @Test func connectionsCutTogetherAreNotFruitless() throws {
        let request = TransferRequest(
            label: "m.gguf", locations: [try #require(URL(string: "http://127.0.0.1:1/m.gguf"))], size: .exact(100_000),
            digest: SHA256Digest(hashing: Data()))
        var tuning = TransferTuning()
        tuning.pieceLength = 1_000
        tuning.stragglerInterval = nil
        var state = SessionState(request, held: RangeSet(), tuning: tuning)
        var now = Duration.zero
        let first = try job(&state)
        state.opened(first, isPart: true, total: 100_000)
        var jobs = [first]
        for worker in state.newWorkers() {
            guard case .fetch(let job) = try state.next(worker, at: now) else { continue }
            jobs.append(job)
        }
        #expect(jobs.count > 1)
        for round in 0..<3 {
            for job in jobs { _ = state.received(10, by: job, at: now) }
            for job in jobs {
                // Each fails after the pause of the one before.
                now += .seconds(1.1)
                let pause = try state.failed(job, Self.cut, requested: nil, jitter: 0, at: now)
                #expect(pause == .milliseconds(250), "round \(round)")
                #expect(state.board.hasAny)
            }
        }
    }

    private static let cut = TransferError(.serverBusy, "later", disposition: .tryLater)
}
