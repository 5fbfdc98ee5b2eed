import HearthBase
import HearthInference
import HearthRouting

/// A request of OpenAI's `/v1/completions`.
package struct TextRequest: Sendable {
    package var request: APIRequest
    var includesUsage = false
    var extras = LlamaExtras()
    /// Whether the reply repeats the prompts.
    var echo = false

    package static func decode(_ fields: Fields) throws(APIFailure) -> TextRequest {
        let model = try fields.model(isRequired: true)
        try fields.refuse(["suffix": [.string("")]])
        if let best = try fields.integer("best_of"), best != (try fields.integer("n") ?? 1) {
            throw .notServed("best_of")
        }
        let (prompts, _) = try PromptDecoding.prompts(fields, "prompt")
        var request = APIRequest(.prompts(prompts), model: model)
        // Unlike chat, `logprobs` is a number here.
        if case .number? = fields.value("logprobs") {
            let most = try fields.integer("logprobs", in: 0...TokenReports.maximumAlternatives) ?? 0
            request.tokenReports = TokenReports(alternatives: most)
        }
        try request.takeOpenAIFields(fields)
        // OpenAI's default.
        request.maximumNewTokens = request.maximumNewTokens ?? 16
        request.constraint = try ResponseFormat.constraint(fields)
        var text = TextRequest(request: request)
        text.includesUsage = try fields.object("stream_options")?.flag("include_usage") ?? false
        text.extras = try LlamaExtras(fields)
        text.echo = try fields.flag("echo") ?? false
        text.request.tokenReports?.includesPrompt = text.echo
        text.request.showsPrompt = text.echo || text.extras.isVerbose
        return text
    }
}

/// The reply of `/v1/completions` as one body.
enum TextReply {
    static func body(_ run: APIRun, _ answers: [APIAnswer], id: String, form: TextRequest) -> JSONValue {
        let choices = answers.enumerated().map { index, answer in
            choice(
                run, index, text: (form.echo ? run.prompt(index) : "") + answer.text, tokens: answer.tokens,
                start: 0, reason: .string(answer.summary.reason.openAI))
        }
        var body = envelope(run, id, choices)
        body["usage"] = ChatReply.usage(answers.usage(copies: run.request.copies))
        body["timings"] = answers.first?.summary.timingsBody
        if form.extras.isVerbose, let first = answers.first {
            body["__verbose"] = LlamaFacts.body(run, first, index: 0)
        }
        return body
    }

    static func envelope(_ run: APIRun, _ id: String, _ choices: [JSONValue]) -> JSONValue {
        [
            "id": .string(id), "object": "text_completion", "created": .integer(run.created),
            "model": .string(run.model.name), "system_fingerprint": .string(ChatReply.fingerprint),
            "choices": .array(choices),
        ]
    }

    /// - Parameter start: the characters of the answer before these tokens.
    static func choice(
        _ run: APIRun, _ index: Int, text: String, tokens: [TokenReport], start: Int, reason: JSONValue
    ) -> JSONValue {
        [
            "text": .string(text), "index": .integer(index),
            "logprobs": run.request.tokenReports == nil ? .null : logs(tokens, start: start),
            "finish_reason": reason,
        ]
    }

    /// The older form of probabilities: lists side by side. llama.cpp's `content` is added.
    private static func logs(_ tokens: [TokenReport], start: Int) -> JSONValue {
        var offset = start
        var offsets: [JSONValue] = []
        for token in tokens {
            offsets.append(.integer(offset))
            offset += TokenLogBody.text(token.chosen).count
        }
        var body = TokenLogBody.chat(tokens)
        body["refusal"] = nil
        body["tokens"] = .array(tokens.map { .string(TokenLogBody.text($0.chosen)) })
        // Nothing comes before the first token of a prompt.
        let first = tokens.first?.isPrompt == true && start == 0
        body["token_logprobs"] = .array(
            tokens.enumerated().map { first && $0 == 0 ? .null : .number($1.chosen.logProbability) })
        body["top_logprobs"] = .array(
            tokens.enumerated().map { index, token in
                if first, index == 0 { return .null }
                var seen: Set<String> = []
                let chances = token.alternatives.compactMap { chance -> (String, JSONValue)? in
                    let text = TokenLogBody.text(chance)
                    return seen.insert(text).inserted ? (text, .number(chance.logProbability)) : nil
                }
                return .object(JSONMembers(chances))
            })
        body["text_offset"] = .array(offsets)
        return body
    }
}

/// The stream of `/v1/completions`.
struct TextStream: StreamEncoder {

    private let run: APIRun
    private let id: String
    private let form: TextRequest
    private var tokens: [[TokenReport]]
    private var lengths: [Int]
    private var answers: [APIAnswer] = []
    private var live = LiveTimings()
    private var progress = PromptProgress()

    init(_ run: APIRun, id: String, form: TextRequest) {
        self.run = run
        self.id = id
        self.form = form
        tokens = Array(repeating: [], count: run.choices)
        lengths = Array(repeating: 0, count: run.choices)
    }

    mutating func begin() -> [UInt8] {
        guard form.echo else { return [] }
        return (0..<run.choices).flatMap { piece($0, run.prompt($0)) }
    }

    mutating func take(_ event: APIEvent) -> [UInt8] {
        switch event {
        case .event(let index, .token(let report)):
            tokens[index].append(report)
            return []
        case .event(let index, .text(let text)), .event(let index, .thinking(let text)):
            live.take(.text(text), run.watch.elapsed)
            defer {
                // The text of a prompt is sent before its tokens.
                let prompt = tokens[index].filter(\.isPrompt)
                lengths[index] += prompt.reduce(text.count) { $0 + TokenLogBody.text($1.chosen).count }
                tokens[index] = []
            }
            return piece(index, text)
        case .event(let index, let event):
            live.take(event, run.watch.elapsed)
            guard form.extras.reportsProgress, index == 0, case .phase(.prefill(let done, let total)) = event else {
                return []
            }
            var body = TextReply.envelope(run, id, [])
            body["prompt_progress"] = progress.body(
                done: done, total: total, milliseconds: run.watch.elapsed.seconds * 1000)
            return EventStream.event(nil, body)
        case .finished(let index, let summary):
            answers.append(APIAnswer(summary: summary))
            var body = TextReply.envelope(
                run, id,
                [
                    TextReply.choice(
                        run, index, text: "", tokens: tokens[index], start: lengths[index],
                        reason: .string(summary.reason.openAI))
                ])
            if !form.includesUsage { body["usage"] = ChatReply.usage(summary.usage) }
            body["timings"] = summary.timingsBody
            return EventStream.event(nil, body)
        }
    }

    private func piece(_ index: Int, _ text: String) -> [UInt8] {
        let choice = TextReply.choice(
            run, index, text: text, tokens: tokens[index], start: lengths[index], reason: .null)
        var body = TextReply.envelope(run, id, [choice])
        if form.includesUsage { body["usage"] = .null }
        if form.extras.timesEachPiece { body["timings"] = live.body(run.watch.elapsed) }
        return EventStream.event(nil, body)
    }

    mutating func end() -> [UInt8] {
        guard form.includesUsage else { return EventStream.done }
        var body = TextReply.envelope(run, id, [])
        body["usage"] = ChatReply.usage(answers.usage(copies: run.request.copies))
        return EventStream.event(nil, body) + EventStream.done
    }

}
