// Bodies of requests of llama.cpp's server, of which their description is made: see `FieldRecord`.

extension CompletionRequest {
    static let examples = [
        #"{"prompt": "Once upon a time"}"#,
        #"{"model": "tiny", "prompt": ["Once", "Twice"], "n_predict": 5, "n_probs": 2, "return_tokens": true}"#,
        #"{"prompt": "A colour: ", "json_schema": {"type": "string"}, "n_predict": 20}"#,
    ]
}

extension InfillRequest {
    static let examples = [
        #"{"input_prefix": "def add(a, b):\n", "input_suffix": "\n"}"#,
        #"""
        {"input_prefix": "def add(a, b):\n", "input_suffix": "\n", "prompt": "    return", "n_predict": 5,
         "input_extra": [{"filename": "main.py", "text": "from sums import add\n"}]}
        """#,
    ]
}

extension TokenizeRequest {
    static let examples = [
        #"{"content": "a cat"}"#, #"{"model": "tiny", "content": ["a cat", 5], "with_pieces": true}"#, "{}",
    ]
}

extension DetokenizeRequest {
    static let examples = [#"{"tokens": [5, 6]}"#, #"{"model": "tiny", "tokens": []}"#]
}
