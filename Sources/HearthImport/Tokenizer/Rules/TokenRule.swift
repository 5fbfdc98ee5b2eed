import HearthBase

/// A way to cut texts into words that llama.cpp knows, with the name that its vocabularies give it.
struct TokenRule: Sendable {
    /// The value of `tokenizer.ggml.pre`.
    let name: String
    /// The steps of a `tokenizer.json` that cut in this way.
    let steps: [String]
    /// llama.cpp takes a word that is a token as this token, without merges; `nil` if both ways are imported.
    let ignoresMerges: Bool?
    /// The engine's caller cuts a text between digits and before an apostrophe behind a letter, as the original does and
    /// llama.cpp's rule does not.
    var cutsDigits = false
    /// The patterns match every character, so that nothing is between two matches.
    var matchesEverything = true

    private static let contractions = "(?i:'s|'t|'re|'ve|'m|'ll|'d)"
    private static let tail = #"| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"#
    private static func words(digits: String) -> String {
        contractions + #"|[^\r\n\p{L}\p{N}]?\p{L}+|"# + digits + tail
    }
    /// Words that end where a capital letter follows a small one.
    private static func cased(contractions: String, digits: String) -> String {
        #"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+"# + contractions
            + #"|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*"# + contractions
            + "|" + digits + #"| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+"#
    }

    /// llama.cpp's rule whose words end at a change of case and keep their marks.
    private static let markedWords = "granite-embed-multi-97m"

    static let known: [TokenRule] = [
        // Llama 3, SmolLM 3.
        TokenRule(name: "llama-bpe", steps: [words(digits: #"\p{N}{1,3}"#)], ignoresMerges: true),
        // Phi 4.
        TokenRule(name: "dbrx", steps: [words(digits: #"\p{N}{1,3}"#)], ignoresMerges: false),
        // Qwen 2, 2.5 and 3.
        TokenRule(name: "qwen2", steps: [words(digits: #"\p{N}"#)], ignoresMerges: false),
        // Qwen 3.5.
        TokenRule(
            name: "qwen35",
            steps: [
                contractions + #"|[^\r\n\p{L}\p{N}]?[\p{L}\p{M}]+|\p{N}| ?[^\s\p{L}\p{M}\p{N}]+[\r\n]*"#
                    + #"|\s*[\r\n]+|\s+(?!\S)|\s+"#
            ],
            ignoresMerges: false),
        // Llama 4, Phi 4 mini. The rule that llama.cpp gives their own files leaves marks out of words.
        TokenRule(
            name: markedWords, steps: [cased(contractions: contractions + "?", digits: #"\p{N}{1,3}"#)],
            ignoresMerges: nil),
        // Mistral Nemo and later. The same is true of their rule in llama.cpp.
        TokenRule(
            name: markedWords, steps: [cased(contractions: "", digits: #"\p{N}"#)], ignoresMerges: nil, cutsDigits: true
        ),
        // SmolLM 2, StarCoder 2.
        TokenRule(name: "smollm", steps: [Splitting.digits, Splitting.gpt2], ignoresMerges: false),
        TokenRule(name: "gpt-2", steps: [Splitting.gpt2], ignoresMerges: false),
        // DeepSeek V3 and R1.
        TokenRule(
            name: "deepseek-v3",
            steps: [
                #"\p{N}{1,3}"#, "[\u{4E00}-\u{9FA5}\u{3040}-\u{309F}\u{30A0}-\u{30FF}]+",
                ##"[!"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+"##
                    + #"| ?[\p{P}\p{S}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"#,
            ],
            ignoresMerges: false, matchesEverything: false),
    ]

    /// The rule of a file whose words are written as bytes.
    /// - Throws: `incompatible`, with the file's rules, if no rule of llama.cpp is the same.
    static func named(_ splitting: Splitting, ignoresMerges: Bool) throws(ImportError) -> TokenRule {
        let dropsRest = splitting.steps.contains { $0.hasPrefix(Splitting.droppingRest) }
        let steps = splitting.steps.map {
            $0.hasPrefix(Splitting.droppingRest) ? String($0.dropFirst(Splitting.droppingRest.count)) : $0
        }
        let same = known.filter {
            $0.steps.elementsEqual(steps) { $0.utf8.elementsEqual($1.utf8) }
                && (!dropsRest || ($0.matchesEverything && steps.count == 1))
        }
        guard !same.isEmpty else {
            throw Splitting.refused(
                "the engine has no rules like those of its pre-tokenizer",
                rule: splitting.steps.isEmpty ? "none" : splitting.steps.joined(separator: " then "))
        }
        guard let rule = same.first(where: { $0.ignoresMerges == nil || $0.ignoresMerges == ignoresMerges }) else {
            throw .refused(
                TokenizerDocument.name,
                "it takes \(ignoresMerges ? "words without" : "only words after") merging, and the engine does not",
                field: "model.ignore_merges", rule: "ignore_merges: \(ignoresMerges)")
        }
        return rule
    }
}
