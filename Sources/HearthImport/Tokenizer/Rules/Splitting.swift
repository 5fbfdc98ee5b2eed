import HearthBase

/// The steps that cut a text into words, in the order of the file.
///
/// A step is written as one text, so that a table can name it: a regular expression, or the name of another step.
struct Splitting: Sendable {
    /// The steps, without those that cut nothing.
    private(set) var steps: [String] = []
    /// Words are written with one character for each byte.
    private(set) var writesBytes = false
    /// Blanks are written as `▁`, and a text gets one at its beginning.
    private(set) var blankPrefix: BlankPrefix?

    /// A step that writes blanks as `▁`.
    enum BlankPrefix: String, Sendable { case always, first, never }

    /// The pattern of GPT-2, which a step with bytes cuts with unless the file says otherwise.
    static let gpt2 = #"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"#
    /// Each digit is a word.
    static let digits = "digits"

    /// Reads the value of `pre_tokenizer`.
    /// - Throws: `incompatible` for a step that is unknown or has unknown options.
    init(_ value: JSONValue) throws(ImportError) {
        try add(value, depth: 0)
    }

    private mutating func add(_ value: JSONValue, depth: Int) throws(ImportError) {
        guard value != .null else { return }
        let type = value["type"]?.string ?? ""
        switch type {
        case "Sequence" where depth < 8:
            for step in value["pretokenizers"]?.items ?? [] { try add(step, depth: depth + 1) }
        case "Split": try addSplit(value)
        case "Digits": steps.append(value["individual_digits"] == true ? Self.digits : #"\p{N}+"#)
        case "ByteLevel":
            // A file without the option has a blank before each text.
            guard value["add_prefix_space"] == false else {
                throw Self.refused("it puts a blank before each text", rule: "ByteLevel: add_prefix_space")
            }
            guard !writesBytes else { throw Self.refused("it writes bytes twice", rule: "ByteLevel") }
            writesBytes = true
            if value["use_regex"] != false { steps.append(Self.gpt2) }
        case "Metaspace": try addBlankPrefix(value)
        default:
            throw Self.refused(
                "the step \(type.quoted) of its pre-tokenizer is unknown", rule: type.isEmpty ? value.kind : type)
        }
    }

    private mutating func addSplit(_ value: JSONValue) throws(ImportError) {
        let behavior = value["behavior"]?.string ?? ""
        let isInverted = value["invert"] == true
        if let text = value["pattern"]?["String"]?.string {
            // Gemma's: no blank is left when this step sees the text, so that it cuts nothing.
            guard text == " ", behavior == "MergedWithPrevious", !isInverted else {
                throw Self.refused("its pre-tokenizer cuts at a text", rule: "Split \(behavior): \(text)")
            }
            return steps.append(Self.atBlanks)
        }
        guard let pattern = value["pattern"]?["Regex"]?.string else {
            throw Self.refused("a step of its pre-tokenizer has no pattern", rule: "Split \(behavior)")
        }
        // Either every match is a word, or everything between the matches is dropped; `TokenRule` knows patterns that
        // leave nothing between matches.
        guard (behavior == "Isolated" && !isInverted) || (behavior == "Removed" && isInverted) else {
            throw Self.refused(
                "its pre-tokenizer cuts in another way than the engine",
                rule: "Split \(behavior)\(isInverted ? " inverted" : ""): \(pattern)")
        }
        steps.append((isInverted ? Self.droppingRest : "") + Self.spelled(pattern))
    }

    /// A step that cuts behind blanks.
    static let atBlanks = "at blanks"
    /// The beginning of a step that drops everything between its matches.
    static let droppingRest = "only "

    private mutating func addBlankPrefix(_ value: JSONValue) throws(ImportError) {
        let scheme = value["prepend_scheme"]?.string ?? (value["add_prefix_space"] == false ? "never" : "always")
        guard value["replacement"] == "\u{2581}", let prefix = BlankPrefix(rawValue: scheme), blankPrefix == nil,
            value["split"] == false
        else {
            throw Self.refused(
                "its pre-tokenizer writes blanks in another way than the engine",
                rule: "Metaspace: \(value["replacement"]?.kind ?? "null"), \(scheme), split")
        }
        blankPrefix = prefix
    }

    /// One spelling of a pattern: some files write line ends as escapes, others as they are.
    private static func spelled(_ pattern: String) -> String {
        var spelled = ""
        for scalar in pattern.unicodeScalars {
            switch scalar {
            case "\r": spelled += "\\r"
            case "\n": spelled += "\\n"
            default: spelled.unicodeScalars.append(scalar)
            }
        }
        return spelled
    }

    static func refused(_ problem: String, rule: String) -> ImportError {
        .refused(TokenizerDocument.name, problem, field: "pre_tokenizer", rule: rule)
    }
}
