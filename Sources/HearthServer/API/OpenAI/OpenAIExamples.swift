// Bodies of requests in OpenAI's dialect, of which their description is made: see `FieldRecord`.

extension ChatRequest {
    static let examples = [
        #"{"model": "tiny", "messages": [{"role": "user", "content": "Why is the sky blue?"}]}"#,
        #"""
        {"model": "tiny", "max_completion_tokens": 100, "stream": true, "stream_options": {"include_usage": true},
         "messages": [
           {"role": "system", "content": [{"type": "text", "text": "One sentence."}]},
           {"role": "user", "content": [
             {"type": "text", "text": "What is this?"},
             {"type": "file", "file": {"filename": "a.txt", "file_data": "data:text/plain;base64,YQ=="}}]},
           {"role": "assistant", "content": null, "reasoning_content": "A file.", "tool_calls": [
             {"id": "a1", "type": "function", "function": {"name": "read", "arguments": "{\"path\": \"a.txt\"}"}},
             {"id": "a2", "type": "custom", "custom": {"name": "note", "input": "seen"}}]},
           {"role": "tool", "tool_call_id": "a1", "content": "a"},
           {"role": "tool", "tool_call_id": "a2", "content": "noted"}],
         "tools": [
           {"type": "function", "function": {"name": "read", "description": "Reads a file.",
             "parameters": {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]}}},
           {"type": "custom", "custom": {"name": "note", "description": "Keeps a note.",
             "format": {"type": "grammar", "grammar": {"syntax": "regex", "definition": "[a-z]+"}}}}],
         "tool_choice": {"type": "function", "function": {"name": "read"}}, "reasoning": {"effort": "low"},
         "logprobs": true, "top_logprobs": 2, "repetition_detection": {"max_pattern_size": 0}}
        """#,
        #"""
        {"model": "tiny", "messages": [{"role": "user", "content": "A colour as JSON."}],
         "response_format": {"type": "json_schema", "json_schema": {"name": "colour", "schema": {"type": "object",
           "properties": {"name": {"type": "string"}}, "required": ["name"], "additionalProperties": false}}},
         "chat_template_kwargs": {"enable_thinking": false}}
        """#,
        #"""
        {"model": "tiny", "messages": [
           {"role": "user", "content": "Hello"},
           {"role": "assistant", "function_call": {"name": "greet", "arguments": "{}"}},
           {"role": "function", "name": "greet", "content": "done"}],
         "functions": [{"name": "greet", "description": "Greets.", "parameters": {"type": "object"}}],
         "function_call": {"name": "greet"}}
        """#,
        #"""
        {"model": "tiny", "messages": [{"role": "user", "content": "Hello"}],
         "tools": [{"type": "function", "function": {"name": "greet", "parameters": {"type": "object"}}}],
         "tool_choice": {"type": "allowed_tools", "allowed_tools": {"mode": "auto",
           "tools": [{"type": "function", "function": {"name": "greet"}}]}}}
        """#,
        #"""
        {"model": "tiny", "messages": [{"role": "user", "content": [
           {"type": "image_url", "image_url": {"url": "\#(ExamplePicture.address)"}},
           {"type": "input_image", "image_url": "\#(ExamplePicture.address)"}]}]}
        """#,
    ]
}

extension TextRequest {
    static let examples = [
        #"{"model": "tiny", "prompt": "Once upon a time"}"#,
        #"""
        {"model": "tiny", "prompt": ["Once", "Twice"], "max_tokens": 5, "echo": true, "logprobs": 1,
         "stream_options": {"include_usage": true}}
        """#,
    ]
}

extension EmbeddingRequest {
    static let examples = [
        #"{"model": "tiny", "input": "a cat"}"#,
        #"{"model": "tiny", "input": ["a cat", "a dog"], "encoding_format": "base64"}"#,
    ]

    static let ollamaExamples = [
        #"{"model": "tiny", "input": "a cat"}"#, #"{"model": "tiny", "input": ["a cat", "a dog"], "truncate": true}"#,
    ]
}

extension RerankRequest {
    static let examples = [
        #"{"query": "pets", "documents": ["a cat", "a stone"]}"#,
        #"""
        {"model": "tiny", "query": "pets", "documents": [{"text": "a cat"}, "a stone"], "top_n": 1,
         "return_documents": true}
        """#,
        #"{"query": "pets", "texts": ["a cat", "a stone"], "return_text": true}"#,
    ]
}

extension ResponsesRequest {
    static let examples = [
        #"{"model": "tiny", "input": "Why is the sky blue?"}"#,
        #"""
        {"model": "tiny", "instructions": "One sentence.", "max_output_tokens": 100, "store": false,
         "reasoning": {"effort": "low", "summary": "auto"}, "include": ["reasoning.encrypted_content"],
         "text": {"format": {"type": "text"}},
         "input": [
           {"type": "message", "role": "user", "content": [
             {"type": "input_text", "text": "What is this?"},
             {"type": "input_file", "filename": "a.txt", "file_data": "data:text/plain;base64,YQ=="}]},
           {"type": "reasoning", "id": "rs_1", "summary": [], "content": [{"type": "reasoning_text", "text": "A file."}]},
           {"type": "function_call", "call_id": "a1", "name": "read", "arguments": "{}"},
           {"type": "function_call_output", "call_id": "a1", "output": "a"},
           {"type": "custom_tool_call", "call_id": "a2", "name": "note", "input": "seen"},
           {"type": "custom_tool_call_output", "call_id": "a2", "output": [{"type": "input_text", "text": "noted"}]}],
         "tools": [
           {"type": "function", "name": "read", "description": "Reads a file.", "parameters": {"type": "object"},
            "strict": false},
           {"type": "custom", "name": "note", "description": "Keeps a note.", "format": {"type": "text"}},
           {"type": "namespace", "name": "web", "tools": [
             {"type": "function", "name": "open", "description": "Opens a page.", "parameters": {"type": "object"}}]}],
         "tool_choice": {"type": "function", "name": "read"}, "parallel_tool_calls": false}
        """#,
        #"""
        {"model": "tiny", "input": [{"role": "user", "content": "A colour as JSON."}],
         "text": {"format": {"type": "json_schema", "name": "colour", "schema": {"type": "object",
           "properties": {"name": {"type": "string"}}, "required": ["name"], "additionalProperties": false}}}}
        """#,
        #"""
        {"model": "tiny", "input": [{"role": "user", "content": [
           {"type": "input_image", "image_url": "\#(ExamplePicture.address)"}]}]}
        """#,
    ]
}
