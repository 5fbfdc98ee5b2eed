import HearthBase
import HearthInference
import HearthRouting

/// The facts of an answer and its settings as llama.cpp's server tells them.
enum LlamaFacts {
    static func body(_ run: APIRun, _ answer: APIAnswer, index: Int) -> JSONValue {
        let summary = answer.summary
        let usage = summary.usage
        return [
            "index": .integer(index), "content": .string(answer.text), "tokens": [], "id_slot": 0, "stop": true,
            "model": .string(run.model.name), "tokens_predicted": .integer(usage.generatedTokens),
            "tokens_evaluated": .integer(usage.promptTokens), "generation_settings": settings(run.options),
            "prompt": .string(run.prompt(index)), "has_new_line": .boolean(answer.text.contains("\n")),
            "truncated": false, "stop_type": .string(stopType(summary.reason)),
            "stopping_word": .string(summary.stopString ?? ""),
            "tokens_cached": .integer(usage.promptTokens + usage.generatedTokens),
            "timings": summary.timingsBody,
        ]
    }

    private static func stopType(_ reason: FinishReason) -> String {
        switch reason {
        case .endOfGeneration, .toolCalls: "eos"
        case .stopString: "word"
        default: "limit"
        }
    }

    /// The settings of a generation.
    static func settings(_ options: GenerationOptions) -> JSONValue {
        let sampling = options.sampling
        return [
            "seed": .integer(Int(sampling.seed ?? .max)), "temperature": .number(sampling.temperature),
            "dynatemp_range": .number(0), "dynatemp_exponent": .number(1),
            "top_k": .integer(sampling.topK ?? 0), "top_p": .number(sampling.topP ?? 1),
            "min_p": .number(sampling.minP ?? 0), "top_n_sigma": .number(-1), "xtc_probability": .number(0),
            "xtc_threshold": .number(0.1), "typical_p": .number(1),
            "repeat_last_n": .integer(sampling.penaltyWindow),
            "repeat_penalty": .number(sampling.repeatPenalty ?? 1),
            "presence_penalty": .number(sampling.presencePenalty ?? 0),
            "frequency_penalty": .number(sampling.frequencyPenalty ?? 0), "dry_multiplier": .number(0),
            "mirostat": 0, "adaptive_target": .number(-1), "adaptive_decay": .number(0.9),
            "stop": .array(options.stopStrings.map { .string($0) }),
            "max_tokens": .integer(options.maximumNewTokens), "n_predict": .integer(options.maximumNewTokens),
            "n_keep": 0, "ignore_eos": false, "stream": false,
            "n_probs": .integer(options.tokenReports?.alternatives ?? 0), "grammar": .string(grammar(options)),
            "samplers": ["penalties", "top_k", "top_p", "min_p", "temperature"],
        ]
    }

    private static func grammar(_ options: GenerationOptions) -> String {
        if case .gbnf(let text)? = options.constraint?.blocks.first?.shape { text } else { "" }
    }
}
