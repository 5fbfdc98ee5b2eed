import Foundation
import HearthBase
import HearthInference
import HearthRouting

/// The replies of llama.cpp's `/completion`.
enum CompletionReply {
    /// The last or only object of an answer.
    static func final(
        _ run: APIRun, _ answer: APIAnswer, index: Int, form: CompletionRequest, isStream: Bool = false
    ) -> JSONValue {
        var body = LlamaFacts.body(run, answer, index: index)
        if isStream {
            body["content"] = ""
        } else if form.returnsTokens {
            body["tokens"] = .array(answer.tokens.map { .integer(Int($0.chosen.token)) })
        }
        if form.hasProbabilities, !isStream {
            body["completion_probabilities"] = probabilities(
                answer.tokens, afterSampling: form.probabilitiesAfterSampling)
        }
        return form.responseFields.isEmpty ? body : picked(form.responseFields, from: body)
    }

    /// The named fields; a name with a slash takes a field of an object.
    private static func picked(_ names: [String], from body: JSONValue) -> JSONValue {
        var chosen: JSONValue = [:]
        for name in names {
            var place: JSONValue? = body
            for part in name.split(separator: "/") { place = place?[String(part)] }
            if let place { chosen[name] = place }
        }
        return chosen
    }

    /// The probabilities of tokens.
    static func probabilities(_ tokens: [TokenReport], afterSampling: Bool) -> JSONValue {
        func chance(_ chance: TokenReport.Chance) -> JSONValue {
            var body = TokenLogBody.chance(chance)
            if afterSampling {
                body["logprob"] = nil
                body["prob"] = .number(
                    min(1, max(.leastNormalMagnitude, Float(exp(Double(chance.logProbability))))))
            }
            return body
        }
        return .array(
            tokens.map { report in
                var body = chance(report.chosen)
                let others = report.alternatives.filter { !afterSampling || exp(Double($0.logProbability)) > 1e-30 }
                body[afterSampling ? "top_probs" : "top_logprobs"] = .array(others.map(chance))
                return body
            })
    }
}

/// The stream of llama.cpp's `/completion`. With probabilities it sends one object for each token.
struct CompletionStream: StreamEncoder {

    private let run: APIRun
    private let form: CompletionRequest
    private var waiting: [[TokenReport]]
    private var counts: [Int]
    private var live = LiveTimings()
    private var progress = PromptProgress()
    private var promptTokens = 0
    /// The answers that have a line break.
    private var hasNewLine: Set<Int> = []

    init(_ run: APIRun, form: CompletionRequest) {
        self.run = run
        self.form = form
        waiting = Array(repeating: [], count: run.choices)
        counts = Array(repeating: 0, count: run.choices)
    }

    mutating func take(_ event: APIEvent) -> [UInt8] {
        switch event {
        case .event(let index, let event):
            live.take(event, run.watch.elapsed)
            return take(event, index)
        case .finished(let index, let summary):
            var answer = APIAnswer(summary: summary)
            answer.text = hasNewLine.contains(index) ? "\n" : ""
            return flush(index, text: "")
                + EventStream.event(
                    nil, CompletionReply.final(run, answer, index: index, form: form, isStream: true))
        }
    }

    private mutating func take(_ event: GenerationEvent, _ index: Int) -> [UInt8] {
        switch event {
        case .phase(.prefill(let done, let total)):
            promptTokens = total
            guard form.extras.reportsProgress, index == 0 else { return [] }
            var body = object(index, "", [])
            body["prompt_progress"] = progress.body(
                done: done, total: total, milliseconds: run.watch.elapsed.seconds * 1000)
            return EventStream.event(nil, body)
        case .token(let report):
            counts[index] += 1
            waiting[index].append(report)
            return []
        case .text(let text), .thinking(let text):
            if text.contains("\n") { hasNewLine.insert(index) }
            if run.options.tokenReports == nil { counts[index] += 1 }
            return flush(index, text: text, isText: true)
        case .phase, .toolCall, .truncated, .picturesLeftOut, .toolResult, .finish: return []
        }
    }

    /// Sends the waiting tokens, the last of them with the text.
    private mutating func flush(_ index: Int, text: String, isText: Bool = false) -> [UInt8] {
        defer { waiting[index] = [] }
        guard form.hasProbabilities else {
            guard isText || !waiting[index].isEmpty else { return [] }
            return EventStream.event(nil, object(index, text, waiting[index]))
        }
        var bytes: [UInt8] = []
        for (number, report) in waiting[index].enumerated() {
            let isLast = number == waiting[index].count - 1
            bytes += EventStream.event(nil, object(index, isLast ? text : "", [report]))
        }
        return bytes
    }

    private func object(_ index: Int, _ text: String, _ tokens: [TokenReport]) -> JSONValue {
        var body: JSONValue = [
            "index": .integer(index), "content": .string(text),
            "tokens": .array(tokens.map { .integer(Int($0.chosen.token)) }), "stop": false, "id_slot": 0,
            "tokens_predicted": .integer(counts[index]), "tokens_evaluated": .integer(promptTokens),
        ]
        if form.extras.timesEachPiece { body["timings"] = live.body(run.watch.elapsed) }
        if form.hasProbabilities, !tokens.isEmpty {
            body["completion_probabilities"] = CompletionReply.probabilities(
                tokens, afterSampling: form.probabilitiesAfterSampling)
        }
        return body
    }

}
