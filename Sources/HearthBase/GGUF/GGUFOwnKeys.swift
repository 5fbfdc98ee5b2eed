/// Keys of GGUF metadata that only this package writes and reads: changes of a text that llama.cpp does not make.
package enum GGUFOwnKeys {
    /// The change of a text before it is cut into tokens; `nfc` composes characters (Unicode's normalization form C).
    package static let normalizer = "hearth.tokenizer.normalizer"
    /// Places at which a text is cut before llama.cpp cuts it; `digits` are those between two digits, and before an
    /// apostrophe behind a letter.
    package static let cuts = "hearth.tokenizer.cuts"
    /// A flag: a blank is put before a text that begins with neither a blank nor a control token.
    package static let firstBlank = "hearth.tokenizer.first_blank"
}
