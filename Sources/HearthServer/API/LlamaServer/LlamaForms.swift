/// The forms of the replies that only llama.cpp's server has.
enum LlamaForms {
    static let timings: JSONForm = [
        "cache_n": .integer, "prompt_n": .integer, "prompt_ms": .number, "prompt_per_token_ms": .number,
        "prompt_per_second": .number, "predicted_n": .integer, "predicted_ms": .number,
        "predicted_per_token_ms": .number, "predicted_per_second": .number,
    ]

    /// With `response_fields`, only those.
    static let completion: JSONForm = [
        "index?": .integer, "content?": .text, "tokens?": .list(.integer), "id_slot?": .integer, "stop?": .flag,
        "model?": .text, "tokens_predicted?": .integer, "tokens_evaluated?": .integer,
        "generation_settings?": .object, "prompt?": .text, "has_new_line?": .flag, "truncated?": .flag,
        "stop_type?": .words("eos", "word", "limit"), "stopping_word?": .text, "tokens_cached?": .integer,
        "timings?": timings, "completion_probabilities?": .list(probability),
    ]

    private static let chance: JSONForm = [
        "id": .integer, "token": .text, "bytes": .list(.integer(in: 0...255)), "logprob?": .number, "prob?": .number,
    ]

    private static let probability = chance.with([
        "top_logprobs?": .list(chance), "top_probs?": .list(chance),
    ])

    static let tokens: JSONForm = [
        "tokens": .list(.either(.integer, ["id": .integer, "piece": .either(.text, .list(.integer(in: 0...255)))]))
    ]

    static let properties: JSONForm = [
        "default_generation_settings": [
            "id": .integer, "n_ctx": .integer, "speculative": .flag, "is_processing": .flag, "params": .object,
        ],
        "total_slots": .integer, "model_alias": .text, "model_path": .text, "chat_template": .text,
        "modalities": ["vision": .flag, "audio": .flag], "build_info": .text, "is_sleeping": .flag,
    ]

    static let slot: JSONForm = [
        "id": .integer, "n_ctx": .integer, "speculative": .flag, "is_processing": .flag,
    ]
}
