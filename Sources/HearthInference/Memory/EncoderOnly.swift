import HearthBase

extension GGUFHeader {
    /// Whether the model is an encoder, such as BERT: it embeds texts and generates none, and has no cache.
    ///
    /// The architecture decides: for these llama.cpp creates no memory (`llama_model::create_memory` in
    /// src/llama-model.cpp). Of them, `dream`, `llada`, `llada-moe` and `rnd1`, which denoise whole texts, are refused
    /// by the load, and `wavtokenizer-dec`, which makes sound, has no ``ModelShape``.
    public var isEncoderOnly: Bool { architecture.map(Self.isEncoder) ?? false }

    /// Whether models of an architecture are encoders.
    package static func isEncoder(_ architecture: String) -> Bool { encoders.contains(architecture) }

    /// Whether the model ranks one text against another (`pooling_type` 4): it gives scores, and no vectors.
    public var ranksTexts: Bool { metadata["\(architecture ?? "").pooling_type"]?.integer == 4 }
}

private let encoders: Set = [
    "bert", "eurobert", "gemma-embedding", "jina-bert-v2", "jina-bert-v3", "modern-bert", "neo-bert", "nomic-bert",
    "nomic-bert-moe",
]

extension LLMError {
    /// The error of a question to an encoder: `generation-failed`.
    public static var encoderOnly: LLMError {
        LLMError(
            .generateFailed, "this model is an encoder, it does not answer",
            context: ErrorContext(remedy: "Ask another model; use this one for embeddings, with `embed`."),
            disposition: .usage)
    }
}
