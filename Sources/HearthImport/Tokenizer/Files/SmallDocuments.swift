import Foundation
import HearthBase

extension HearthError where Domain == ImportErrorDomain {
    /// A rule of a tokenizer that the engine cannot follow.
    /// - Parameter rule: the rule, by the name that the file gives it.
    static func refused(_ file: String, _ problem: String, field: String, rule: String) -> Self {
        .incompatible(
            "the tokenizer cannot be imported: \(problem)", file: file, field: field, found: String(rule.prefix(400)))
    }
}

extension JSONValue {
    /// The number, if it is a whole one that fits.
    var wholeNumber: Int? {
        if case .number(let digits) = self { Int(digits) } else { nil }
    }

    /// The items of a list, or the value alone; none for `null`.
    var oneOrMore: [JSONValue] {
        switch self {
        case .array(let items): items
        case .null: []
        default: [self]
        }
    }

    /// The text of a token, which some files write as `{"content": …}`.
    var tokenText: TokenText? { (string ?? self["content"]?.string).map(TokenText.init) }

    /// Reads a small document of a model folder.
    init(_ file: String, _ data: Data) throws(ImportError) {
        guard data.count <= TokenizerLimits.smallFileBytes else {
            throw .damaged(
                "it is too large", file: file, expected: "at most \(TokenizerLimits.smallFileBytes) bytes",
                found: "\(data.count) bytes")
        }
        do {
            try self.init(parsing: data)
        } catch {
            throw .damaged("\(error)", file: file)
        }
    }
}
