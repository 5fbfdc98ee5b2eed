import Foundation
import HearthBase

extension ModelInfo: ErrorDomain {}

/// Errors of downloads, loads and choices of models, for users of an app.
///
/// They translate errors of lower layers. ``sentence`` is the text to display, ``underlying`` the original error.
public typealias ModelLibraryError = HearthError<ModelInfo>

extension ErrorCode<ModelInfo> {
    /// The view model is downloading another model.
    public static var downloadInProgress: Self { "download-in-progress" }
    /// The model needs more memory than the device has.
    public static var insufficientMemory: Self { "not-enough-memory" }
    /// The disk has too little free space.
    public static var insufficientStorage: Self { "insufficient-storage" }
    /// The network or a server failed.
    public static var networkError: Self { "network-error" }
    /// The model is neither on this device nor offered.
    public static var modelNotFound: Self { "model-not-found" }
}

extension HearthError where Domain == ModelInfo {
    /// The view model is downloading another model; starting the same download again is not an error.
    public static var downloadInProgress: Self {
        // The message has its own full stop, as no remedy follows it.
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

    /// The download needs `required` bytes of free disk space.
    public static func insufficientStorage(required: UInt64, underlying: (any Error)? = nil) -> Self {
        // Rounded up, so that freeing the amount displayed is enough.
        let gigabytes = max(0.1, (Double(required) / 1e8).rounded(.up) / 10)
        return Self(
            .insufficientStorage, "Not enough storage",
            context: ErrorContext(
                expected: "\(required) bytes", remedy: "\(String(format: "%.1f", gigabytes)) GB required."),
            underlying: underlying)
    }

    /// The network or a server failed.
    public static func networkError(_ reason: String, underlying: (any Error)? = nil) -> Self {
        Self(.networkError, "Network error: \(reason)", disposition: .tryLater, underlying: underlying)
    }

    /// The model is not on this device or not offered.
    public static func modelNotFound(_ name: String, underlying: (any Error)? = nil) -> Self {
        Self(
            .modelNotFound, "Model not found: \(name)", context: ErrorContext(model: name), underlying: underlying)
    }
}

extension HearthFailure {
    /// The text to display.
    public var sentence: String { errorDescription ?? message }
}
