import Foundation

/// The files of a model folder that decide how texts become tokens. A missing file is `nil`.
package struct TokenizerFiles: Sendable {
    /// `tokenizer.json`.
    package var tokenizer: Data?
    /// `tokenizer.model`, read when there is no `tokenizer.json`.
    package var sentencePiece: Data?
    /// `tokenizer_config.json`.
    package var configuration: Data?
    /// `chat_template.jinja` or `chat_template.json`; it replaces the template in ``configuration``.
    package var template: Data?
    /// `special_tokens_map.json`.
    package var specialTokens: Data?
    /// `added_tokens.json`.
    package var addedTokens: Data?
    /// `generation_config.json`.
    package var generation: Data?
    /// `config.json`.
    package var model: Data?

    /// Makes a set of files.
    package init(
        tokenizer: Data? = nil, sentencePiece: Data? = nil, configuration: Data? = nil, template: Data? = nil,
        specialTokens: Data? = nil, addedTokens: Data? = nil, generation: Data? = nil, model: Data? = nil
    ) {
        self.tokenizer = tokenizer
        self.sentencePiece = sentencePiece
        self.configuration = configuration
        self.template = template
        self.specialTokens = specialTokens
        self.addedTokens = addedTokens
        self.generation = generation
        self.model = model
    }
}

/// The most that the files of a tokenizer may hold. The largest known ones need half of it or less.
package enum TokenizerLimits {
    /// The bytes of `tokenizer.json` or `tokenizer.model`.
    package static let fileBytes = 64 << 20
    /// The bytes of every other file.
    package static let smallFileBytes = 8 << 20
    /// The tokens of a vocabulary.
    package static let tokens = 1 << 20
    /// The merges of a vocabulary.
    package static let merges = 1 << 20
    /// The bytes of a token.
    package static let tokenBytes = 4096
}
