#if Server
    import Foundation
    import HearthBase
    import HearthInference
    import HearthRouting

    /// The replies of llama.cpp's `/completion`.
    enum CompletionReply {
        /// The last or only object of an answer.
        static func final(
            _ run: APIRun, _ answer: APIAnswer, index: Int, slot: Int, form: CompletionRequest? = nil,
            isStream: Bool = false
        ) -> JSONBody {
            let summary = answer.summary
            let usage = summary.usage
            var body: JSONBody = [
                "index": .integer(index), "content": .string(isStream ? "" : answer.text),
                "tokens": .array(
                    form?.returnsTokens == true && !isStream
                        ? answer.tokens.map { .integer(Int($0.chosen.token)) } : []),
                "id_slot": .integer(slot), "stop": true, "model": .string(run.model.name),
                "tokens_predicted": .integer(usage.generatedTokens), "tokens_evaluated": .integer(usage.promptTokens),
                "generation_settings": settings(run), "prompt": .string(run.prompt(index)),
                "has_new_line": .boolean(answer.text.contains("\n")), "truncated": .boolean(false),
                "stop_type": .string(stopType(summary.reason)),
                "stopping_word": .string(summary.stopString ?? ""),
                "tokens_cached": .integer(usage.promptTokens + usage.generatedTokens),
                "timings": summary.timingsBody,
            ]
            if let form, form.hasProbabilities, !isStream {
                body["completion_probabilities"] = probabilities(
                    answer.tokens, afterSampling: form.probabilitiesAfterSampling)
            }
            guard let names = form?.responseFields, !names.isEmpty else { return body }
            return picked(names, from: body)
        }

        /// The named fields; a name with a slash takes a field of an object.
        private static func picked(_ names: [String], from body: JSONBody) -> JSONBody {
            var chosen: JSONBody = [:]
            for name in names {
                var place: JSONBody? = body
                for part in name.split(separator: "/") { place = place?[String(part)] }
                if let place { chosen[name] = place }
            }
            return chosen
        }

        static func stopType(_ reason: FinishReason) -> String {
            switch reason {
            case .endOfGeneration, .toolCalls: "eos"
            case .stopString: "word"
            default: "limit"
            }
        }

        /// The probabilities of tokens.
        static func probabilities(_ tokens: [TokenReport], afterSampling: Bool) -> JSONBody {
            func chance(_ chance: TokenReport.Chance) -> JSONBody {
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

        /// The settings of a generation.
        static func settings(_ run: APIRun) -> JSONBody { settings(run.options) }

        static func settings(_ options: GenerationOptions) -> JSONBody {
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

    /// The stream of llama.cpp's `/completion`. With probabilities it sends one object for each token.
    struct CompletionStream: StreamEncoder {
        static let contentType = EventStream.contentType

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

        mutating func begin() -> [UInt8] { [] }

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
                        nil, CompletionReply.final(run, answer, index: index, slot: 0, form: form, isStream: true))
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
                if run.request.tokenReports == nil { counts[index] += 1 }
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

        private func object(_ index: Int, _ text: String, _ tokens: [TokenReport]) -> JSONBody {
            var body: JSONBody = [
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

        mutating func end() -> [UInt8] { [] }

        mutating func fail(_ failure: APIFailure) -> [UInt8] { EventStream.event(nil, OpenAIFailure.body(failure)) }
    }
#endif
