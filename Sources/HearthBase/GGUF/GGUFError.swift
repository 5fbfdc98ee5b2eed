/// The domain of ``GGUFError``.
package enum GGUFErrorDomain: ErrorDomain {}

/// A file whose GGUF header cannot be read.
package typealias GGUFError = HearthError<GGUFErrorDomain>

extension ErrorCode<GGUFErrorDomain> {
    /// The file does not begin with `GGUF`: another format, a web page saved as a model, an empty file.
    package static var notGGUF: Self { "not-gguf" }
    /// The header extends past the end of the file, or of the available range.
    package static var truncated: Self { "gguf-truncated" }
    /// The file goes on behind its last tensor and the padding to its alignment.
    package static var trailingBytes: Self { "gguf-trailing-bytes" }
    /// The header contradicts the format or itself.
    package static var corrupt: Self { "gguf-corrupt" }
    /// A version of the format other than 2 and 3, or the big-endian form.
    package static var unsupportedVersion: Self { "gguf-unsupported-version" }
    /// The header exceeds this package's limits (``GGUFHeader/Limits``).
    package static var headerTooLarge: Self { "gguf-header-too-large" }
}
