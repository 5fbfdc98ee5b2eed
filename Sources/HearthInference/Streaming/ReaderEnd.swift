extension AsyncThrowingStream.Continuation {
    /// Has the work behind a stream end with its reader: with a cancelled task that reads, and when nobody can read any more.
    ///
    /// The stream is over before `stop` is called. Otherwise whoever makes it could end it with `CancellationError` first, and the
    /// cancelled task would sometimes see that and sometimes the end.
    package func endsWithItsReader(_ stop: @escaping @Sendable () -> Void) where Failure == any Error {
        onTermination = { reason in
            guard case .cancelled = reason else { return }
            finish()
            stop()
        }
    }
}
