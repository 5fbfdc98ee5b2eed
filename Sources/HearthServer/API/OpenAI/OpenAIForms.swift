/// The forms of the replies in OpenAI's dialect.
enum OpenAIForms {
    static let model: JSONForm = [
        "id": .text, "object": .words("model"), "created": .integer, "owned_by": .text, "aliases": .list(.text),
        "meta": ["size": .integer, "format": .text], "parent?": .text, "context_length?": .integer,
        "capabilities?": .list(.text),
    ]

    static let models: JSONForm = [
        "object": .words("list"), "data": .list(model), "models": .list(["name": .text, "model": .text]),
    ]

    // MARK: Answers

    static let chat: JSONForm = [
        "id": .text, "object": .words("chat.completion"), "created": .integer, "model": .text,
        "system_fingerprint": .text, "service_tier": .text,
        "choices": .list([
            "index": .integer, "message": message, "logprobs": logs.orNull,
            "finish_reason": .words("stop", "length", "tool_calls", "content_filter", "function_call"),
        ]),
        "usage": usage, "timings?": LlamaForms.timings, "__verbose?": .object,
    ]

    private static let message: JSONForm = [
        "role": .words("assistant"), "content": .text.orNull, "refusal": .null, "annotations": .list(.any),
        "reasoning_content?": .text, "reasoning?": .text, "function_call?": function,
        "tool_calls?": .list(.either(call, custom)),
    ]

    private static let function: JSONForm = ["name": .text, "arguments": .text, "invalid?": .text]

    private static let call: JSONForm = ["id": .text, "type": .words("function"), "function": function]

    private static let custom: JSONForm = [
        "id": .text, "type": .words("custom"), "custom": ["name": .text, "input": .text],
    ]

    private static let usage: JSONForm = [
        "prompt_tokens": .integer, "completion_tokens": .integer, "total_tokens": .integer,
        "prompt_tokens_details": ["cached_tokens": .integer, "audio_tokens": .integer],
        "completion_tokens_details": [
            "reasoning_tokens": .integer, "audio_tokens": .integer, "accepted_prediction_tokens": .integer,
            "rejected_prediction_tokens": .integer,
        ],
    ]

    /// A token with its probability.
    static let chance: JSONForm = [
        "id": .integer, "token": .text, "bytes": .list(.integer(in: 0...255)), "logprob": .number,
    ]

    static let token = chance.with(["top_logprobs": .list(chance)])

    private static let logs: JSONForm = ["content": .list(token), "refusal": .null]

    static let text: JSONForm = [
        "id": .text, "object": .words("text_completion"), "created": .integer, "model": .text,
        "system_fingerprint": .text,
        "choices": .list([
            "text": .text, "index": .integer, "logprobs": textLogs.orNull,
            "finish_reason": .words("stop", "length", "tool_calls", "content_filter"),
        ]),
        "usage": usage, "timings?": LlamaForms.timings, "__verbose?": .object,
    ]

    private static let textLogs: JSONForm = [
        "content": .list(token), "tokens": .list(.text), "token_logprobs": .list(.number.orNull),
        "top_logprobs": .list(.map(.number).orNull), "text_offset": .list(.integer),
    ]

    static let count: JSONForm = ["object": .words("response.input_tokens"), "input_tokens": .integer]

    // MARK: Responses

    static let response: JSONForm = [
        "id": .text, "object": .words("response"), "created_at": .integer, "completed_at": .integer.orNull,
        "status": .words("in_progress", "completed", "incomplete", "failed"), "background": .flag,
        "error": .orNull(["code": .any, "message": .text]),
        "incomplete_details": .orNull(["reason": .text]), "instructions": .text.orNull,
        "max_output_tokens": .integer.orNull, "max_tool_calls": .integer.orNull, "model": .text,
        "output": .list(item), "parallel_tool_calls": .flag, "previous_response_id": .text.orNull,
        "prompt_cache_key": .any, "reasoning": ["effort": .text.orNull, "summary": .text.orNull],
        "safety_identifier": .any, "service_tier": .text, "store": .flag, "temperature": .number, "text": .any,
        "tool_choice": .any, "tools": .list(.object), "top_logprobs": .integer, "top_p": .number,
        "presence_penalty": .number, "frequency_penalty": .number, "truncation": .words("auto", "disabled"),
        "usage": .orNull([
            "input_tokens": .integer, "input_tokens_details": ["cached_tokens": .integer], "output_tokens": .integer,
            "output_tokens_details": ["reasoning_tokens": .integer], "total_tokens": .integer,
        ]),
        "user": .null, "metadata": .any,
    ]

    /// An item of a response; further members depend on its type.
    private static let item: JSONForm = [
        "id": .text, "type": .text, "status": .words("completed", "incomplete", "failed"), "role?": .text,
        "content?": .list(.object), "summary?": .list(.any), "encrypted_content?": .text, "call_id?": .text,
        "name?": .text, "namespace?": .text, "arguments?": .either(.text, .object), "input?": .text,
        "action?": .object, "operation?": .object, "execution?": .text, "invalid?": .text,
    ]

    // MARK: Vectors

    private static let textUsage: JSONForm = ["prompt_tokens": .integer, "total_tokens": .integer]

    static let embeddings: JSONForm = [
        "object": .words("list"),
        "data": .list([
            "object": .words("embedding"), "index": .integer, "embedding": .either(.list(.number), .text),
        ]),
        "model": .text, "usage": textUsage,
    ]

    static let ranking: JSONForm = .either(
        [
            "id": .text, "object": .words("list"), "model": .text,
            "results": .list(["index": .integer, "relevance_score": .number, "document?": .any]),
            "usage": textUsage, "meta": .object,
        ], .list(["index": .integer, "score": .number, "text?": .text]))

    // MARK: Errors

    static let failure: JSONForm = [
        "error": [
            "message": .text, "type": .text, "param": .text.orNull, "code": .text.orNull, "n_prompt_tokens?": .integer,
            "n_ctx?": .integer,
        ]
    ]
}
