import HearthBase

/// The codes of ``ActivationError``.
public enum ActivationErrorDomain: ErrorDomain {
    public static var codes: [ErrorCode<Self>] { [.probeFailed, .artefactRefused] }
}

/// A release that is installed and does not become live.
public typealias ActivationError = HearthError<ActivationErrorDomain>

extension ErrorCode<ActivationErrorDomain> {
    /// An engine tried the release, and it did not answer as it has to.
    public static var probeFailed: Self { "probe-failed" }
    /// What an engine made of the release is not kept: it is empty, or holds a link or the like. The release is used as it came.
    public static var artefactRefused: Self { "artefact-refused" }
}

extension ActivationError {
    /// The error for an artefact that is not kept.
    static func artefactRefused(_ path: Path, of release: InstalledRelease, _ reason: String) -> Self {
        ActivationError(
            .artefactRefused,
            "\(path.lastComponent), made of \(release.identity), is not kept: \(reason)",
            context: ErrorContext(model: release.identity.description, file: path.string))
    }
}
