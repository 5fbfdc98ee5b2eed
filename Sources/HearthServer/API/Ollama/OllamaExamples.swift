// Bodies of requests in Ollama's dialect, of which their description is made: see `FieldRecord`.

extension OllamaRequest {
    static let chats = [
        #"{"model": "tiny", "messages": [{"role": "user", "content": "Why is the sky blue?"}]}"#,
        #"""
        {"model": "tiny", "stream": false, "keep_alive": "5m", "think": false,
         "options": {"num_predict": 20, "temperature": 0.5, "seed": 1, "stop": ["\n\n"]},
         "messages": [
           {"role": "user", "content": "What is in a.txt?"},
           {"role": "assistant", "content": "", "thinking": "A file.", "tool_calls": [
             {"id": "a1", "function": {"name": "read", "arguments": {"path": "a.txt"}}}]},
           {"role": "tool", "tool_name": "read", "content": "a"}],
         "tools": [{"type": "function", "function": {"name": "read", "description": "Reads a file.",
           "parameters": {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]}}}],
         "logprobs": true, "top_logprobs": 2}
        """#,
        #"{"model": "tiny"}"#,
        #"""
        {"model": "tiny", "messages": [{"role": "user", "content": "What is this?",
           "images": ["\#(ExamplePicture.base64)"]}]}
        """#,
    ]

    static let prompts = [
        #"{"model": "tiny", "prompt": "Why is the sky blue?"}"#,
        #"{"model": "tiny", "prompt": "Once", "raw": true, "stream": false, "options": {"num_predict": 5}}"#,
        #"{"model": "tiny", "prompt": "Why?", "system": "One sentence.", "format": "json", "think": "low"}"#,
    ]
}

extension PresetRequest {
    static let examples = [
        #"{"model": "short", "from": "tiny"}"#,
        #"""
        {"model": "short", "from": "tiny", "system": "One sentence.", "parameters": {"temperature": 0.5},
         "messages": [{"role": "user", "content": "Hello"}], "stream": false}
        """#,
        #"{"model": "short", "modelfile": "FROM tiny\nSYSTEM One sentence.\n"}"#,
    ]
}
