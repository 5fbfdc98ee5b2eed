import HearthBase

/// The codes of ``ActivationError``.
public enum ActivationErrorDomain: ErrorDomain {
    public static var codes: [ErrorCode<Self>] { [.probeFailed] }
}

/// A release that is installed and does not become live.
public typealias ActivationError = HearthError<ActivationErrorDomain>

extension ErrorCode<ActivationErrorDomain> {
    /// An engine tried the release, and it did not answer as it has to.
    public static var probeFailed: Self { "probe-failed" }
}
