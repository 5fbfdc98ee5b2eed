import HearthBase
import HearthInference
import HearthRouting

/// The stream of `/v1/chat/completions`.
struct ChatStream: StreamEncoder {

    private let run: APIRun
    private let id: String
    private let form: ChatRequest
    private var extras: LlamaExtras { form.extras }
    private var includesUsage: Bool { form.includesUsage }
    private var choices: [Choice]
    private var usage = TokenUsage.none
    private var live = LiveTimings()
    private var progress = PromptProgress()
    private var last: GenerationSummary?

    private struct Choice {
        var hasBegun = false
        var calls = 0
        /// Reports that wait for the text of their tokens.
        var tokens: [TokenReport] = []
    }

    init(_ run: APIRun, id: String, form: ChatRequest) {
        self.run = run
        self.id = id
        self.form = form
        choices = Array(repeating: Choice(), count: run.choices)
    }

    mutating func take(_ event: APIEvent) -> [UInt8] {
        switch event {
        case .event(let index, let event):
            live.take(event, run.watch.elapsed)
            return take(event, index)
        case .finished(let index, let summary): return finish(index, summary)
        }
    }

    private mutating func take(_ event: GenerationEvent, _ index: Int) -> [UInt8] {
        switch event {
        case .phase(.prefill(let done, let total)) where extras.reportsProgress && index == 0:
            let body = progress.body(done: done, total: total, milliseconds: run.watch.elapsed.seconds * 1000)
            return begun(index) + send(chunk(index, [:]), progress: body)
        case .token(let report):
            choices[index].tokens.append(report)
            return []
        case .text(let text): return begun(index) + send(chunk(index, ["content": .string(text)]))
        case .thinking(let text):
            return begun(index)
                + send(chunk(index, ["reasoning_content": .string(text), "reasoning": .string(text)]))
        case .toolCall(let call):
            let names = run.request.toolNames
            guard !run.request.shown([call]).isEmpty, run.request.callsInParallel || choices[index].calls == 0 else {
                return []
            }
            let number = choices[index].calls
            choices[index].calls += 1
            let delta: JSONValue =
                form.usesFunctions
                ? ["function_call": ChatReply.function(call, names)]
                : ["tool_calls": [ChatReply.call(call, names, index: number)]]
            return form.usesFunctions && number > 0 ? [] : begun(index) + send(chunk(index, delta))
        case .phase, .truncated, .picturesLeftOut, .toolResult, .finish: return []
        }
    }

    /// The first chunk of an answer.
    private mutating func begun(_ index: Int) -> [UInt8] {
        guard !choices[index].hasBegun else { return [] }
        choices[index].hasBegun = true
        return send(chunk(index, ["role": "assistant", "content": .null]), isFirst: true)
    }

    private mutating func finish(_ index: Int, _ summary: GenerationSummary) -> [UInt8] {
        var bytes = begun(index)
        if !choices[index].tokens.isEmpty { bytes += send(chunk(index, ["content": ""])) }
        usage.generatedTokens += summary.usage.generatedTokens
        usage.thinkingTokens += summary.usage.thinkingTokens
        if index == 0 {
            usage.promptTokens = summary.usage.promptTokens
            usage.cachedTokens = summary.usage.cachedTokens
        }
        last = summary
        var chunk = chunk(index, [:], reason: .string(form.reason(summary.reason)))
        if !includesUsage { chunk["timings"] = summary.timingsBody }
        return bytes + EventStream.event(nil, chunk)
    }

    mutating func end() -> [UInt8] {
        var bytes: [UInt8] = []
        if includesUsage {
            var body = envelope([])
            body["usage"] = ChatReply.usage(usage)
            body["timings"] = last?.timingsBody
            bytes += EventStream.event(nil, body)
        }
        return bytes + EventStream.done
    }

    private func send(_ chunk: JSONValue, isFirst: Bool = false, progress: JSONValue? = nil) -> [UInt8] {
        var chunk = chunk
        if let progress { chunk["prompt_progress"] = progress }
        if extras.timesEachPiece, !isFirst { chunk["timings"] = live.body(run.watch.elapsed) }
        return EventStream.event(nil, chunk)
    }

    private mutating func chunk(_ index: Int, _ delta: JSONValue, reason: JSONValue = .null) -> JSONValue {
        var choice: JSONValue = ["index": .integer(index), "delta": delta, "logprobs": .null]
        if case .string? = delta["content"], !choices[index].tokens.isEmpty {
            choice["logprobs"] = TokenLogBody.chat(choices[index].tokens)
            choices[index].tokens = []
        }
        choice["finish_reason"] = reason
        return envelope([choice])
    }

    private func envelope(_ choices: [JSONValue]) -> JSONValue {
        var body: JSONValue = [
            "id": .string(id), "object": "chat.completion.chunk", "created": .integer(run.created),
            "model": .string(run.model.name), "system_fingerprint": .string(ChatReply.fingerprint),
            "choices": .array(choices),
        ]
        if includesUsage { body["usage"] = .null }
        return body
    }
}

/// The times of an answer while it is generated, in llama.cpp's form.
struct LiveTimings: Sendable {
    private var promptTokens = 0
    private var cachedTokens: Int?
    private var prefillBegan: Duration?
    private var decodeBegan: Duration?
    private var tokens = 0

    mutating func take(_ event: GenerationEvent, _ elapsed: Duration) {
        switch event {
        case .phase(.prefill(let done, let total)):
            promptTokens = total
            cachedTokens = cachedTokens ?? done
            prefillBegan = prefillBegan ?? elapsed
        case .phase(.decode): decodeBegan = decodeBegan ?? elapsed
        case .text, .thinking: tokens += 1
        default: break
        }
    }

    func body(_ elapsed: Duration) -> JSONValue {
        let prompt = max(0, promptTokens - (cachedTokens ?? 0))
        let prefill = ((decodeBegan ?? elapsed) - (prefillBegan ?? .zero)).seconds
        let decode = (elapsed - (decodeBegan ?? elapsed)).seconds
        func rate(_ count: Int, _ seconds: Double) -> Double { seconds > 0 ? Double(count) / seconds : 0 }
        func each(_ count: Int, _ seconds: Double) -> Double { count > 0 ? seconds * 1000 / Double(count) : 0 }
        return [
            "cache_n": .integer(cachedTokens ?? 0), "prompt_n": .integer(prompt),
            "prompt_ms": .double(prefill * 1000), "prompt_per_token_ms": .double(each(prompt, prefill)),
            "prompt_per_second": .double(rate(prompt, prefill)), "predicted_n": .integer(tokens),
            "predicted_ms": .double(decode * 1000), "predicted_per_token_ms": .double(each(tokens, decode)),
            "predicted_per_second": .double(rate(tokens, decode)),
        ]
    }
}
