/// The forms of the replies in Anthropic's dialect.
enum MessagesForms {
    static let message: JSONForm = [
        "id": .text, "type": .words("message"), "role": .words("assistant"), "model": .text, "content": .list(block),
        "stop_reason": .words(
            "end_turn", "stop_sequence", "tool_use", "refusal", "model_context_window_exceeded", "max_tokens"),
        "stop_sequence": .text.orNull, "stop_details": .null, "container": .null, "usage": usage,
        "context_management?": [
            "applied_edits": .list([
                "type": .text, "cleared_input_tokens": .integer, "cleared_tool_uses?": .integer,
                "cleared_thinking_turns?": .integer,
            ])
        ],
    ]

    private static let caller: JSONForm = ["type": .words("direct")]

    private static let block: JSONForm = .either(
        ["type": .words("text"), "text": .text, "citations": .null],
        ["type": .words("thinking"), "thinking": .text, "signature": .text],
        [
            "type": .words("tool_use", "server_tool_use"), "id": .text, "name": .text, "input": .object,
            "caller": caller, "invalid?": .text,
        ],
        [
            "type": .words("web_search_tool_result"), "tool_use_id": .text, "content": .either(.list(.object), .object),
            "caller": caller,
        ])

    private static let usage: JSONForm = [
        "input_tokens": .integer, "cache_creation": .null, "cache_creation_input_tokens": .integer,
        "cache_read_input_tokens": .integer, "output_tokens": .integer, "output_tokens_details": .null,
        "inference_geo": .null, "server_tool_use": .orNull(["web_search_requests": .integer]),
        "service_tier": .text,
    ]

    static let count: JSONForm = [
        "input_tokens": .integer, "context_management?": ["original_input_tokens": .integer],
    ]

    static let model: JSONForm = [
        "type": .words("model"), "id": .text, "display_name": .text, "created_at": .text,
    ]

    static let models: JSONForm = [
        "data": .list(model), "has_more": .flag, "first_id": .text.orNull, "last_id": .text.orNull,
    ]

    static let failure: JSONForm = ["type": .words("error"), "error": ["type": .text, "message": .text]]
}
