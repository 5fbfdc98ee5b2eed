import HearthBase
import HearthInference

/// A request of llama.cpp's `/completion`.
struct CompletionRequest: Sendable {
    var request: APIRequest
    var extras = LlamaExtras()
    /// Whether the reply lists the answer's tokens.
    var returnsTokens = false
    /// Whether the probabilities are those after sampling.
    var probabilitiesAfterSampling = false
    /// The fields of the reply; empty for all.
    var responseFields: [String] = []
    /// Whether `prompt` was a list of prompts, so that the reply is a list.
    var isList = false
    /// Whether the reply has probabilities.
    var hasProbabilities = false

    /// Known fields that are not served, with the values that mean nothing is asked.
    private static let notServed: [String: [JSONValue]] = [
        "dynatemp_range": [.number("0")], "typical_p": [.number("1")], "top_n_sigma": [.number("-1")],
        "xtc_probability": [.number("0")], "mirostat": [.number("0")], "dry_multiplier": [.number("0")],
        "adaptive_target": [.number("-1")], "ignore_eos": [.boolean(false)], "lora": [],
        "n_indent": [.number("0")], "min_keep": [.number("0")], "image_data": [],
    ]

    static func decode(_ fields: Fields) throws(APIFailure) -> CompletionRequest {
        let (prompts, isList) = try PromptDecoding.prompts(fields, "prompt")
        return try decode(fields, prompts, isList: isList)
    }

    /// A request with other prompts than `prompt`.
    static func decode(
        _ fields: Fields, _ prompts: [[APIRequest.PromptPart]], isList: Bool
    ) throws(APIFailure) -> CompletionRequest {
        try fields.refuse(notServed)
        var request = APIRequest(.prompts(prompts), model: try fields.string("model"))
        try request.takeOpenAIFields(fields)
        if let most = try fields.limit("n_predict") { request.maximumNewTokens = most }
        let most = try fields.integer("n_probs", in: 0...TokenReports.maximumAlternatives) ?? 0
        // An answer with a seed is asked for to be repeated: what was computed before must not change it.
        request.reusesPrompt = try fields.flag("cache_prompt") ?? (request.sampling.seed == nil)
        request.constraint = try ResponseFormat.constraint(fields)
        var completion = CompletionRequest(request: request)
        completion.extras = try LlamaExtras(fields)
        completion.returnsTokens = try fields.flag("return_tokens") ?? false
        completion.probabilitiesAfterSampling = try fields.flag("post_sampling_probs") ?? false
        completion.responseFields = try fields.strings("response_fields", atMost: 100) ?? []
        completion.isList = isList
        completion.request.showsPrompt = true
        completion.hasProbabilities = most > 0
        if most == 0 {
            // A stream always tells its tokens.
            completion.request.tokenReports =
                completion.returnsTokens || request.streams ? .tokensOnly : nil
        } else {
            completion.request.tokenReports = TokenReports(
                alternatives: most, isAfterSampling: completion.probabilitiesAfterSampling)
        }
        return completion
    }
}
