import HearthBase
import HearthInference
import Testing

/// Streams that end with the task that reads them.
@Suite(.timeLimit(.minutes(10))) struct ReaderEndTests {
    /// The stopped producer ends the stream with an error; the cancelled task gets the end all the same.
    @Test func aCancelledTaskSeesTheEndAndNoError() async throws {
        let (stream, continuation) = AsyncThrowingStream<Int, any Error>.makeStream()
        continuation.endsWithItsReader { continuation.finish(throwing: CancellationError()) }
        let (reading, source) = AsyncStream<Void>.makeStream()
        let reader = Task {
            var seen: [Int] = []
            for try await number in stream {
                seen.append(number)
                source.yield()
            }
            return seen
        }
        continuation.yield(1)
        for await _ in reading { break }
        reader.cancel()
        #expect(try await reader.value == [1])
    }

    @Test func releasingTheStreamStopsTheWork() async {
        let (stopped, source) = AsyncStream<Void>.makeStream()
        do {
            let (stream, continuation) = AsyncThrowingStream<Int, any Error>.makeStream()
            continuation.endsWithItsReader { source.finish() }
            withExtendedLifetime(stream) {}
        }
        for await _ in stopped {}
    }

    /// A stream that ends without a cancellation stops no producer, and its error is thrown.
    @Test func anErrorOfTheProducerIsThrown() async {
        let (stream, continuation) = AsyncThrowingStream<Int, any Error>.makeStream()
        continuation.endsWithItsReader { Issue.record("no task was cancelled") }
        continuation.finish(throwing: LLMError(.generateFailed, "it failed"))
        await #expect(throws: LLMError.self) { for try await _ in stream {} }
    }
}
