import HearthBase
import HearthInference

/// The file that constrains an answer: `--schema` or `--grammar`.
struct ConstraintFile: Sendable, Hashable {
    let path: Path
    let isSchema: Bool

    /// The file of either option, `nil` without both.
    /// - Throws: ``UsageError`` with both.
    init?(schema: String?, grammar: String?, hint: String) throws {
        guard let name = schema ?? grammar else { return nil }
        guard schema == nil || grammar == nil else {
            throw UsageError("--schema and --grammar say the same in two ways", hint: hint)
        }
        path = Path(name)
        isSchema = schema != nil
    }

    /// Reads the constraint.
    /// - Throws: `FileError`; `grammar-unusable` if the file is not text.
    func read() async throws -> OutputConstraint {
        let limit = isSchema ? OutputConstraint.maximumSchemaLength : Grammar.maximumLength
        let data = try await blocking { try LocalFileSystem().contents(ofFile: path, limit: limit) }
        guard let text = String(validating: data, as: UTF8.self) else {
            throw LLMError(
                .unusableGrammar, "\(path.lastComponent) is no text", context: ErrorContext(file: path.string),
                disposition: .usage)
        }
        return isSchema ? .jsonSchema(text) : .gbnf(text)
    }
}
