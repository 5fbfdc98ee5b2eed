import HearthBase
import HearthRouting

/// The error form of OpenAI's API, with llama.cpp's fields for a prompt that is too long.
enum OpenAIFailure {
    static func body(_ failure: APIFailure) -> JSONValue {
        var error: JSONValue = [
            "message": .string(message(failure)), "type": .string(type(failure)),
            "param": failure.field.map { .string($0) } ?? .null, "code": code(failure),
        ]
        if case .contextExceeded(let tokens, let window) = failure.reason {
            error["n_prompt_tokens"] = tokens.map { .integer($0) }
            error["n_ctx"] = window.map { .integer($0) }
        }
        return ["error": error]
    }

    /// A prompt that is too long is told in the words that OpenAI's clients look for.
    static func message(_ failure: APIFailure) -> String {
        guard let (tokens, window) = failure.lengths else { return failure.message }
        return
            "This model's maximum context length is \(window) tokens, and the prompt has \(tokens). \(failure.message)"
    }

    private static func type(_ failure: APIFailure) -> String {
        switch failure.reason {
        case .contextExceeded: "exceed_context_size_error"
        case .busy: "rate_limit_error"
        case .forbidden: "permission_error"
        case .notFound, .modelMissing, .invalid, .notServed, .noVision, .noVisionInPlace, .tooLarge, .conflict:
            "invalid_request_error"
        case .failed, .upstream: "server_error"
        }
    }

    static func code(_ failure: APIFailure) -> JSONValue {
        switch failure.reason {
        case .modelMissing: "model_not_found"
        case .contextExceeded: "context_length_exceeded"
        case .notServed: "unsupported_parameter"
        case .busy: "rate_limit_exceeded"
        default: failure.code.map { .string($0) } ?? .null
        }
    }
}
