import Foundation
import HearthBase

/// The codes of ``ModelLibraryError``.
public enum ModelLibraryErrorDomain: ErrorDomain {
    public static var codes: [ErrorCode<Self>] {
        [.downloadInProgress, .insufficientMemory, .insufficientStorage, .networkError, .modelNotFound]
    }
}

/// What a person is told who downloads, chooses or loads a model in an app.
///
/// Everything below tells causes in its own words; these few say what it means for somebody who only wants a model.
/// ``sentence`` is what an app shows, ``underlying`` the error it was made of.
public typealias ModelLibraryError = HearthError<ModelLibraryErrorDomain>

extension ErrorCode<ModelLibraryErrorDomain> {
    /// This view model downloads another model.
    public static var downloadInProgress: Self { "download-in-progress" }
    /// The model needs more memory than the device has.
    public static var insufficientMemory: Self { "insufficient-memory" }
    /// The disk has not enough free space.
    public static var insufficientStorage: Self { "insufficient-storage" }
    /// The network or a server did not do its part.
    public static var networkError: Self { "network-error" }
    /// No such model is on this device, or none is on offer.
    public static var modelNotFound: Self { "model-not-found" }
}

extension HearthError where Domain == ModelLibraryErrorDomain {
    /// This view model downloads another model; the same one would have been no second start.
    public static var downloadInProgress: Self {
        // The full stop is the message's own: there is no second sentence to set it.
        Self(.downloadInProgress, "A download is already in progress.", disposition: .tryLater)
    }

    /// The model needs `required` bytes of memory.
    public static func insufficientMemory(required: UInt64, underlying: (any Error)? = nil) -> Self {
        let gigabytes = max(1, required / 1_000_000_000 + (required % 1_000_000_000 == 0 ? 0 : 1))
        return Self(
            .insufficientMemory, "This model requires \(gigabytes) GB RAM",
            context: ErrorContext(expected: "\(required) bytes", remedy: "Your device may not support it."),
            underlying: underlying)
    }

    /// The disk has to have `required` bytes free.
    public static func insufficientStorage(required: UInt64, underlying: (any Error)? = nil) -> Self {
        // Rounded up: freeing what the sentence says has to be enough.
        let gigabytes = max(0.1, (Double(required) / 1e8).rounded(.up) / 10)
        return Self(
            .insufficientStorage, "Not enough storage",
            context: ErrorContext(
                expected: "\(required) bytes", remedy: "\(String(format: "%.1f", gigabytes)) GB required."),
            underlying: underlying)
    }

    /// The network or a server did not do its part.
    public static func networkError(_ reason: String, underlying: (any Error)? = nil) -> Self {
        Self(.networkError, "Network error: \(reason)", disposition: .tryLater, underlying: underlying)
    }

    /// No such model.
    public static func modelNotFound(_ name: String, underlying: (any Error)? = nil) -> Self {
        Self(
            .modelNotFound, "Model not found: \(name)", context: ErrorContext(model: name), underlying: underlying)
    }
}

extension HearthFailure {
    /// What an app shows of it.
    public var sentence: String { errorDescription ?? message }
}
