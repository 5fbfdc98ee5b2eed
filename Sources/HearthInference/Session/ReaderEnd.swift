extension AsyncThrowingStream.Continuation {
    /// Ends the work behind a stream with its reader: when the reading task is cancelled, and when the stream is released.
    ///
    /// The stream ends before `stop` is called. Otherwise its producer could end it with `CancellationError` first, and the
    /// cancelled task would sometimes see that and sometimes the end.
    package func endsWithItsReader(_ stop: @escaping @Sendable () -> Void) where Failure == any Error {
        onTermination = { reason in
            guard case .cancelled = reason else { return }
            finish()
            stop()
        }
    }
}
