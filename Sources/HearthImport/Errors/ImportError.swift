import HearthBase

/// The domain of ``ImportError``.
package enum ImportErrorDomain: ErrorDomain {}

/// A folder of weights that cannot become a GGUF file.
package typealias ImportError = HearthError<ImportErrorDomain>

extension ErrorCode<ImportErrorDomain> {
    /// No engine or importer of this version knows the model type, the quantization, the tokenizer's rules or the form of
    /// the files.
    package static var incompatible: Self { "incompatible" }
    /// A file contradicts its format or another file of the model.
    package static var damaged: Self { "damaged" }
    /// A file that the model needs is not in the folder.
    package static var missingFile: Self { "missing-file" }
    /// A file of the model is a symbolic link or no regular file.
    package static var linkedFile: Self { "linked-file" }
}

extension HearthError where Domain == ImportErrorDomain {
    /// A file that contradicts its format or another file.
    static func damaged(
        _ problem: String, file: String, field: String? = nil, expected: String? = nil, found: String? = nil
    ) -> Self {
        Self(
            .damaged, "\(file) is damaged: \(problem)",
            context: ErrorContext(
                file: file, field: field, expected: expected, found: found, remedy: "Fetch the file again."))
    }

    /// A model that this version cannot import.
    static func incompatible(
        _ message: String, file: String? = nil, field: String? = nil, expected: String? = nil, found: String? = nil,
        remedy: String? = "Choose a release of the model in GGUF form."
    ) -> Self {
        Self(
            .incompatible, message,
            context: ErrorContext(file: file, field: field, expected: expected, found: found, remedy: remedy))
    }
}
