import HearthBase
import HearthInference
import HearthRouting

/// The probabilities of tokens in OpenAI's forms.
enum TokenLogBody {
    /// The form of chat.
    static func chat(_ tokens: [TokenReport]) -> JSONValue {
        let shown = tokens.filter { !$0.isThinking }
        return [
            "content": .array(
                shown.map(report)), "refusal": .null,
        ]
    }

    /// A token with the others that were likely.
    static func report(_ report: TokenReport) -> JSONValue {
        var body = chance(report.chosen)
        body["top_logprobs"] = .array(report.alternatives.map(chance))
        return body
    }

    static func chance(_ chance: TokenReport.Chance) -> JSONValue {
        [
            "id": .integer(Int(chance.token)), "token": .string(text(chance)),
            "bytes": .array(chance.bytes.map { .integer(Int($0)) }), "logprob": .number(chance.logProbability),
        ]
    }

    static func text(_ chance: TokenReport.Chance) -> String { String(decoding: chance.bytes, as: UTF8.self) }
}
