import HearthBase

/// The changes of a text before it is cut.
struct Normalizing: Sendable {
    /// Characters of several code points are composed (Unicode's form C).
    private(set) var composes = false
    /// Blanks are written as `▁`.
    private(set) var replacesBlanks = false
    /// A text gets a `▁` at its beginning.
    private(set) var addsBlank = false

    /// Reads the value of `normalizer`.
    /// - Throws: `incompatible` for an unknown step.
    init(_ value: JSONValue) throws(ImportError) {
        try add(value, depth: 0)
    }

    private mutating func add(_ value: JSONValue, depth: Int) throws(ImportError) {
        guard value != .null else { return }
        let type = value["type"]?.string ?? ""
        switch type {
        case "Sequence" where depth < 8:
            for step in value["normalizers"]?.items ?? [] { try add(step, depth: depth + 1) }
        case "NFC": composes = true
        case "Prepend" where value["prepend"] == "\u{2581}" && !replacesBlanks: addsBlank = true
        case "Replace" where value["pattern"]?["String"] == " " && value["content"] == "\u{2581}":
            replacesBlanks = true
        default:
            throw Self.refused(
                "the step \(type.quoted) of its normalizer is unknown", rule: type.isEmpty ? value.kind : type)
        }
    }

    static func refused(_ problem: String, rule: String) -> ImportError {
        .refused(TokenizerDocument.name, problem, field: "normalizer", rule: rule)
    }
}
