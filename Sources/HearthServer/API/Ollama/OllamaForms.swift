/// The forms of the replies in Ollama's dialect.
enum OllamaForms {
    private static let answer: JSONForm = [
        "model": .text, "created_at": .text, "done": .flag,
        "done_reason?": .words("stop", "length", "load", "unload"), "total_duration?": .integer,
        "load_duration?": .integer, "prompt_eval_count?": .integer, "prompt_eval_duration?": .integer,
        "eval_count?": .integer, "eval_duration?": .integer, "logprobs?": .list(OpenAIForms.token),
    ]

    static let chat = answer.with([
        "message": [
            "role": .words("assistant"), "content": .text, "thinking?": .text,
            "tool_calls?": .list([
                "id": .text,
                "function": ["index": .integer, "name": .text, "arguments": .object, "invalid?": .text],
            ]),
        ]
    ])

    static let generated = answer.with(["response": .text, "thinking?": .text])

    static let vectors: JSONForm = [
        "model": .text, "embeddings": .list(.list(.number)), "total_duration": .integer, "load_duration": .integer,
        "prompt_eval_count": .integer,
    ]

    // MARK: Models

    private static let facts: JSONForm = [
        "parent_model": .text, "format": .text, "family": .text, "families": .list(.text), "parameter_size": .text,
        "quantization_level": .text,
    ]

    private static let model: JSONForm = [
        "name": .text, "model": .text, "size": .integer, "digest": .text, "details": facts,
        "capabilities": .list(.text),
    ]

    static let models: JSONForm = ["models": .list(model.with(["modified_at": .text]))]

    static let loaded: JSONForm = ["models": .list(model.with(["expires_at": .text, "size_vram": .integer]))]

    static let details: JSONForm = [
        "modelfile": .text, "parameters": .text, "template": .text, "details": facts, "model_info": .object,
        "capabilities": .list(.text), "modified_at": .text, "system?": .text,
        "messages?": .list(["role": .text, "content": .text]),
    ]

    static let status: JSONForm = ["status": .text]

    static let failure: JSONForm = ["error": .text]
}
