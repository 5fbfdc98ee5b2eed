// Bodies of requests in Anthropic's dialect, of which their description is made: see `FieldRecord`.

extension MessagesRequest {
    static let examples = [
        #"{"model": "tiny", "max_tokens": 100, "messages": [{"role": "user", "content": "Why is the sky blue?"}]}"#,
        #"""
        {"model": "tiny", "max_tokens": 100, "system": [{"type": "text", "text": "One sentence."}],
         "messages": [
           {"role": "user", "content": [
             {"type": "text", "text": "What is this?"},
             {"type": "document", "title": "a.txt", "context": "A file.",
              "source": {"type": "text", "media_type": "text/plain", "data": "a"}},
             {"type": "search_result", "title": "A", "source": "a.txt", "content": [{"type": "text", "text": "a"}]}]},
           {"role": "assistant", "content": [
             {"type": "thinking", "thinking": "A file.", "signature": ""},
             {"type": "tool_use", "id": "a1", "name": "read", "input": {"path": "a.txt"}}]},
           {"role": "user", "content": [
             {"type": "tool_result", "tool_use_id": "a1", "is_error": false, "content": [{"type": "text", "text": "a"}]}]}],
         "tools": [
           {"name": "read", "description": "Reads a file.", "input_schema": {"type": "object",
             "properties": {"path": {"type": "string"}}, "required": ["path"]}},
           {"type": "bash_20250124", "name": "bash"}],
         "tool_choice": {"type": "tool", "name": "read", "disable_parallel_tool_use": true},
         "thinking": {"type": "enabled", "budget_tokens": 50, "display": "omitted"},
         "context_management": {"edits": [
           {"type": "clear_thinking_20251015", "keep": {"type": "thinking_turns", "value": 1}},
           {"type": "clear_tool_uses_20250919", "trigger": {"type": "input_tokens", "value": 30000},
            "keep": {"type": "tool_uses", "value": 3}, "clear_at_least": {"type": "input_tokens", "value": 0},
            "exclude_tools": ["read"], "clear_tool_inputs": false}]}}
        """#,
        #"""
        {"model": "tiny", "max_tokens": 100, "messages": [{"role": "user", "content": "A colour as JSON."}],
         "output_config": {"effort": "low", "format": {"type": "json_schema", "schema": {"type": "object",
           "properties": {"name": {"type": "string"}}, "required": ["name"], "additionalProperties": false}}},
         "thinking": {"type": "adaptive"}}
        """#,
        #"""
        {"model": "tiny", "max_tokens": 100, "messages": [{"role": "user", "content": [{"type": "image",
           "source": {"type": "base64", "media_type": "image/bmp", "data": "\#(ExamplePicture.base64)"}}]}]}
        """#,
    ]
}
