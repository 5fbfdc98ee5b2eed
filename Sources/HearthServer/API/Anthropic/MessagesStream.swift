import HearthBase
import HearthInference
import HearthRouting

/// The stream of `/v1/messages`.
struct MessagesStream: StreamEncoder {

    private let run: APIRun
    private let id: String
    private let form: MessagesRequest
    /// The thinking that the client keeps unread.
    private var hidden = ""
    private var searches = 0
    private var hasBegun = false
    /// The kind of the open block.
    private var open: Kind?
    private var index = -1
    private var calls = 0
    private var usage = TokenUsage.none

    private enum Kind { case text, thinking }

    init(_ run: APIRun, id: String, form: MessagesRequest) {
        self.run = run
        self.id = id
        self.form = form
    }

    mutating func take(_ event: APIEvent) -> [UInt8] {
        switch event {
        case .event(_, .phase(.prefill(let done, let total))):
            if !hasBegun { (usage.promptTokens, usage.cachedTokens) = (total, done) }
            return begun()
        case .event(_, .thinking(let text)):
            let start = opened(.thinking, ["type": "thinking", "thinking": "", "signature": ""])
            guard form.showsThinking else {
                hidden += text
                return start
            }
            return start + delta(["type": "thinking_delta", "thinking": .string(text)])
        case .event(_, .text(let text)):
            return opened(.text, ["type": "text", "text": "", "citations": .null])
                + delta(["type": "text_delta", "text": .string(text)])
        case .event(_, .toolCall(let call)): return tool(call)
        case .event(_, .toolResult(let call, let content)):
            return search(APIAnswer.Search(call: call, content: content))
        case .event: return []
        case .finished(_, let summary): return finish(summary)
        }
    }

    private mutating func begun() -> [UInt8] {
        guard !hasBegun else { return [] }
        hasBegun = true
        let message = MessagesReply.message(run, id: id, blocks: [], reason: .null, usage: usage)
        return send("message_start", ["message": message]) + send("ping", [:])
    }

    /// Opens a block of a kind, unless it is open.
    private mutating func opened(_ kind: Kind, _ block: JSONValue) -> [UInt8] {
        let start = begun()
        if open == kind { return start }
        let closed = closed()
        open = kind
        index += 1
        return start + closed + send("content_block_start", ["index": .integer(index), "content_block": block])
    }

    private mutating func closed() -> [UInt8] {
        guard let kind = open else { return [] }
        open = nil
        let sealed = form.showsThinking ? "" : KeptThinking.sealed(hidden)
        let signature = kind == .thinking ? delta(["type": "signature_delta", "signature": .string(sealed)]) : []
        if kind == .thinking { hidden = "" }
        return signature + send("content_block_stop", ["index": .integer(index)])
    }

    private func delta(_ delta: JSONValue) -> [UInt8] {
        send("content_block_delta", ["index": .integer(index), "delta": delta])
    }

    private mutating func tool(_ call: ToolCall) -> [UInt8] {
        guard !run.request.shown([call]).isEmpty, run.request.callsInParallel || calls == 0 else { return [] }
        calls += 1
        var bytes = begun() + closed()
        index += 1
        bytes += send(
            "content_block_start",
            ["index": .integer(index), "content_block": MessagesReply.tool(call, run.request.toolNames, input: [:])])
        bytes += delta(["type": "input_json_delta", "partial_json": .string(call.arguments)])
        return bytes + send("content_block_stop", ["index": .integer(index)])
    }

    private mutating func search(_ search: APIAnswer.Search) -> [UInt8] {
        searches += 1
        var bytes = begun() + closed()
        for block in MessagesReply.search(search, run.request.toolNames) {
            index += 1
            let input = block["input"]
            var empty = block
            if input != nil { empty["input"] = [:] }
            bytes += send("content_block_start", ["index": .integer(index), "content_block": empty])
            if let input {
                bytes += delta(["type": "input_json_delta", "partial_json": .string(input.line)])
            }
            bytes += send("content_block_stop", ["index": .integer(index)])
        }
        return bytes
    }

    private mutating func finish(_ summary: GenerationSummary) -> [UInt8] {
        usage = summary.usage
        var bytes = begun()
        // An answer without any text has one empty block.
        if index < 0 { bytes += opened(.text, ["type": "text", "text": "", "citations": .null]) }
        bytes += closed()
        var end: JSONValue = [
            "delta": [
                "stop_reason": .string(MessagesReply.reason(summary.reason)),
                "stop_sequence": summary.stopString.map { .string($0) } ?? .null, "stop_details": .null,
                "container": .null,
            ], "usage": MessagesReply.usage(summary.usage, searches: searches),
        ]
        end["context_management"] = form.editReport
        bytes += send("message_delta", end)
        return bytes + send("message_stop", [:])
    }

    mutating func fail(_ failure: APIFailure) -> [UInt8] {
        EventStream.event("error", AnthropicFailure.body(failure))
    }

    private func send(_ type: String, _ members: JSONValue) -> [UInt8] {
        guard case .object(let rest) = members else { return [] }
        return EventStream.event(type, .object(rest.after(["type": .string(type)])))
    }
}
