import HearthBase
import HearthInference
import HearthRouting

/// The stream of `/v1/messages`.
struct MessagesStream: StreamEncoder {

    private let run: APIRun
    private let id: String
    private var hasBegun = false
    /// The kind of the open block.
    private var open: Kind?
    private var index = -1
    private var calls = 0
    private var usage = TokenUsage.none

    private enum Kind { case text, thinking }

    init(_ run: APIRun, id: String) {
        self.run = run
        self.id = id
    }

    mutating func take(_ event: APIEvent) -> [UInt8] {
        switch event {
        case .event(_, .phase(.prefill(let done, let total))):
            if !hasBegun { (usage.promptTokens, usage.cachedTokens) = (total, done) }
            return begun()
        case .event(_, .thinking(let text)):
            return opened(.thinking, ["type": "thinking", "thinking": "", "signature": ""])
                + delta(["type": "thinking_delta", "thinking": .string(text)])
        case .event(_, .text(let text)):
            return opened(.text, ["type": "text", "text": "", "citations": .null])
                + delta(["type": "text_delta", "text": .string(text)])
        case .event(_, .toolCall(let call)): return tool(call)
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
        let signature = kind == .thinking ? delta(["type": "signature_delta", "signature": ""]) : []
        return signature + send("content_block_stop", ["index": .integer(index)])
    }

    private func delta(_ delta: JSONValue) -> [UInt8] {
        send("content_block_delta", ["index": .integer(index), "delta": delta])
    }

    private mutating func tool(_ call: ToolCall) -> [UInt8] {
        guard run.request.callsInParallel || calls == 0 else { return [] }
        calls += 1
        var bytes = begun() + closed()
        index += 1
        bytes += send(
            "content_block_start",
            ["index": .integer(index), "content_block": MessagesReply.tool(call, input: [:])])
        bytes += delta(["type": "input_json_delta", "partial_json": .string(call.arguments)])
        return bytes + send("content_block_stop", ["index": .integer(index)])
    }

    private mutating func finish(_ summary: GenerationSummary) -> [UInt8] {
        usage = summary.usage
        var bytes = begun()
        // An answer without any text has one empty block.
        if index < 0 { bytes += opened(.text, ["type": "text", "text": "", "citations": .null]) }
        bytes += closed()
        bytes += send(
            "message_delta",
            [
                "delta": [
                    "stop_reason": .string(MessagesReply.reason(summary.reason)),
                    "stop_sequence": summary.stopString.map { .string($0) } ?? .null, "stop_details": .null,
                    "container": .null,
                ], "usage": MessagesReply.usage(summary.usage),
            ])
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
