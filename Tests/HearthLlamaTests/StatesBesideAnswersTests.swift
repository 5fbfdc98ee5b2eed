#if Llama
import Dispatch
import HearthBase
import HearthInference
@testable import HearthLlama
import HearthTestSupport
import Testing

extension RealModel {
    /// Files of states are read and written while answers continue.
    @Suite struct StatesBesideAnswers {
        private static func prompt(_ word: String) -> String { StepBench.long(word, sentences: 12) }

        /// A loop of two sequences whose states are kept in a folder of `disk`.
        private static func bench(_ folder: Path, _ disk: any FileSystem) throws -> StepBench {
            try StepBench(sequences: 2, context: 2048, folder: folder, fileSystem: disk)
        }

        private static func answer(_ bench: StepBench, _ word: String) throws {
            try #require(bench.loop.admit(bench.ask(prompt(word), tokens: 2)) == .begun)
            bench.finish()
        }

        /// Runs steps until the disk receives a call.
        private static func takesSteps(_ bench: StepBench, while disk: BlockedDisk) throws -> Int {
            let run = try #require(bench.loop.runs.first)
            disk.waitUntilBlocked()
            let before = run.position
            for _ in 0..<5 { _ = bench.loop.step() }
            return run.position - before
        }

        @Test func anAnswerGoesOnWhileAnEvictedStateIsWritten() async throws {
            let folder = try TemporaryFolder()
            try await blocking {
                let disk = BlockedDisk(.write)
                let bench = try Self.bench(folder.path("states"), disk)
                try Self.answer(bench, "fox")
                try #require(bench.loop.admit(bench.ask("Write a long story.", tokens: 60)) == .begun)
                for _ in 0..<3 { _ = bench.loop.step() }
                // The third conversation takes the sequence of the first, whose state is written to the disk.
                #expect(bench.loop.admit(bench.ask(Self.prompt("bear"), tokens: 40)) == .begun)
                #expect(try Self.takesSteps(bench, while: disk) == 5)
                disk.release()
                bench.finish()
                bench.loop.model.conversations.saveAll()
            }
        }

        @Test func anAnswerGoesOnWhileAStateIsRead() async throws {
            let folder = try TemporaryFolder()
            try await blocking {
                let first = try Self.bench(folder.path("states"), LocalFileSystem())
                try Self.answer(first, "fox")
                first.loop.model.conversations.saveAll()

                let disk = BlockedDisk(.read)
                let bench = try Self.bench(folder.path("states"), disk)
                disk.block()
                try #require(bench.loop.admit(bench.ask("Write a long story.", tokens: 60)) == .begun)
                for _ in 0..<3 { _ = bench.loop.step() }
                let again = bench.ask(Self.prompt("fox"), tokens: 2)
                let isRead = DispatchSemaphore(value: 0)
                #expect(bench.loop.admit(again, onRead: { isRead.signal() }) == .readsState)
                #expect(try Self.takesSteps(bench, while: disk) == 5)
                #expect(bench.loop.admit(again) == .readsState)
                disk.release()
                isRead.wait()
                #expect(bench.loop.admit(again) == .begun)
                let run = try #require(bench.loop.runs.last)
                #expect(run.position > run.prompt.ledger.count / 2)
                bench.finish()
            }
        }
    }
}

/// A disk whose calls of one kind wait until they are released.
private final class BlockedDisk: ForwardingFileSystem {
    enum Call { case read, write }

    let base: any FileSystem = LocalFileSystem()
    private let call: Call
    private let isBlocking: Locked<Bool>
    private let blocked = DispatchSemaphore(value: 0)
    private let released = DispatchSemaphore(value: 0)

    /// Blocks writes at once, and reads after ``block()``.
    init(_ call: Call) {
        self.call = call
        isBlocking = Locked(call == .write)
    }

    func block() { isBlocking.withLock { $0 = true } }

    func waitUntilBlocked() { blocked.wait() }

    func release() { released.signal() }

    private func wait(in call: Call) {
        guard call == self.call, isBlocking.withLock({ $0 }) else { return }
        blocked.signal()
        released.wait()
        released.signal()
    }

    func read(_ file: OpenFile, into buffer: UnsafeMutableRawBufferPointer, at offset: UInt64) throws -> Int {
        wait(in: .read)
        return try base.read(file, into: buffer, at: offset)
    }

    func write(_ file: OpenFile, _ bytes: UnsafeRawBufferPointer, at offset: UInt64) throws {
        wait(in: .write)
        try base.write(file, bytes, at: offset)
    }
}
#endif
