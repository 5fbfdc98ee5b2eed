extension AsyncThrowingStream.Continuation {
    /// Stops a stream's producer when the reading task is cancelled, and when the stream is released.
    ///
    /// The stream ends before `stop` is called. Otherwise the producer could end it with `CancellationError` first, and
    /// the cancelled task would get sometimes that error and sometimes the end.
    package func endsWithItsReader(_ stop: @escaping @Sendable () -> Void) where Failure == any Error {
        onTermination = { reason in
            guard case .cancelled = reason else { return }
            finish()
            stop()
        }
    }
}

extension AsyncThrowingStream where Element: Sendable, Failure == any Error {
    /// A stream of the elements that `work` yields. Its reader's end cancels the work.
    package static func running(
        _ work: @escaping @Sendable (_ yield: @escaping @Sendable (Element) -> Void) async throws -> Void
    ) -> Self {
        Self { continuation in
            let task = Task {
                do {
                    try await work { continuation.yield($0) }
                    continuation.finish()
                } catch {
                    continuation.finish(throwing: error)
                }
            }
            continuation.onTermination = { _ in task.cancel() }
        }
    }
}
