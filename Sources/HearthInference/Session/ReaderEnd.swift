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
