import HearthBase

/// The codes of ``ActivationError``.
public enum ActivationErrorDomain: ErrorDomain {
    public static var codes: [ErrorCode<Self>] { [.probeFailed] }
}

/// An installed release that does not become live.
public typealias ActivationError = HearthError<ActivationErrorDomain>

extension ErrorCode<ActivationErrorDomain> {
    /// An engine tried the release, and its answer was wrong or missing.
    public static var probeFailed: Self { "probe-failed" }
}
