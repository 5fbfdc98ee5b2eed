import HearthBase
import HearthInference
import HearthRouting

/// The stream of `/v1/responses`.
struct ResponsesStream: StreamEncoder {

    private let reply: ResponsesReply
    /// Takes the complete answer, to store it.
    private let store: @Sendable (APIAnswer, JSONValue) -> Void
    private var number = 0
    /// The kind of the open item.
    private var open: Kind?
    /// The place of the open item, or of the last one.
    private var index = -1
    private var answer = APIAnswer()
    private var tokens: [TokenReport] = []
    private var live = LiveTimings()
    private var progress = PromptProgress()

    private enum Kind { case message, reasoning }

    init(_ reply: ResponsesReply, store: @escaping @Sendable (APIAnswer, JSONValue) -> Void) {
        self.reply = reply
        self.store = store
    }

    mutating func begin() -> [UInt8] {
        let body = reply.body(nil)
        return send("response.created", ["response": body]) + send("response.in_progress", ["response": body])
    }

    mutating func take(_ event: APIEvent) -> [UInt8] {
        switch event {
        case .event(_, let event):
            live.take(event, reply.run.watch.elapsed)
            answer.take(event)
            return take(event)
        case .finished(_, let summary):
            answer.summary = summary
            return finish()
        }
    }

    private mutating func take(_ event: GenerationEvent) -> [UInt8] {
        switch event {
        case .phase(.prefill(let done, let total)) where reply.form.extras.reportsProgress:
            let body = progress.body(
                done: done, total: total, milliseconds: reply.run.watch.elapsed.seconds * 1000)
            return send(
                "response.in_progress", ["response": reply.body(nil), "prompt_progress": body])
        case .token(let report):
            tokens.append(report)
            return []
        case .thinking(let text):
            return opened(.reasoning)
                + send("response.reasoning_text.delta", piece(reply.reasoningID, ["delta": .string(text)]))
        case .text(let text):
            var members: JSONValue = ["delta": .string(text), "logprobs": .array(ResponsesReply.logs(tokens))]
            if reply.form.extras.timesEachPiece { members["timings"] = live.body(reply.run.watch.elapsed) }
            tokens = []
            return opened(.message) + send("response.output_text.delta", piece(reply.messageID, members))
        case .toolCall(let call):
            guard reply.form.request.callsInParallel || answer.toolCalls.count == 1 else { return [] }
            return tool(call)
        case .phase, .truncated, .picturesLeftOut, .toolResult, .finish: return []
        }
    }

    private func piece(_ item: String, _ members: JSONValue) -> JSONValue {
        guard case .object(let rest) = members else { return members }
        return .object(
            rest.after(["item_id": .string(item), "output_index": .integer(index), "content_index": 0]))
    }

    private mutating func opened(_ kind: Kind) -> [UInt8] {
        if open == kind { return [] }
        let closed = closed()
        open = kind
        index += 1
        let item =
            kind == .message
            ? reply.message([], status: "in_progress") : reply.reasoning(nil, status: "in_progress")
        let added = send("response.output_item.added", ["output_index": .integer(index), "item": item])
        guard kind == .message else { return closed + added }
        return closed + added
            + send("response.content_part.added", piece(reply.messageID, ["part": reply.part("")]))
    }

    private mutating func closed() -> [UInt8] {
        guard let kind = open else { return [] }
        open = nil
        var bytes: [UInt8] = []
        let item: JSONValue
        let isWhole = reply.cutIsComplete || answer.summary.reason.isComplete || kind == .reasoning
        let status = isWhole ? "completed" : "incomplete"
        switch kind {
        case .reasoning:
            bytes += send(
                "response.reasoning_text.done", piece(reply.reasoningID, ["text": .string(answer.thinking)]))
            item = reply.reasoning(answer.thinking, status: status)
        case .message:
            let part = reply.part(answer.text, tokens: answer.tokens)
            bytes += send(
                "response.output_text.done",
                piece(reply.messageID, ["text": .string(answer.text), "logprobs": part["logprobs"] ?? []]))
            bytes += send("response.content_part.done", piece(reply.messageID, ["part": part]))
            item = reply.message([part], status: status)
        }
        return bytes + send("response.output_item.done", ["output_index": .integer(index), "item": item])
    }

    private mutating func tool(_ call: ToolCall) -> [UInt8] {
        var bytes = closed()
        index += 1
        let place: JSONValue = .integer(index)
        let id: JSONValue = .string("fc_" + call.id)
        bytes += send(
            "response.output_item.added",
            ["output_index": place, "item": ResponsesReply.call(call, status: "in_progress", arguments: "")])
        bytes += send(
            "response.function_call_arguments.delta",
            ["item_id": id, "output_index": place, "delta": .string(call.arguments)])
        bytes += send(
            "response.function_call_arguments.done",
            [
                "item_id": id, "output_index": place, "name": .string(call.name),
                "arguments": .string(call.arguments),
            ])
        return bytes
            + send(
                "response.output_item.done",
                ["output_index": place, "item": ResponsesReply.call(call, status: "completed")])
    }

    private mutating func finish() -> [UInt8] {
        // An answer without any text has one empty message.
        var bytes = index < 0 ? opened(.message) : []
        bytes += closed()
        let body = reply.body(answer)
        store(answer, body)
        let isCut = !reply.cutIsComplete && !answer.summary.reason.isComplete
        var members: JSONValue = ["response": body]
        if reply.form.extras.timesEachPiece || reply.form.extras.reportsProgress {
            members["timings"] = answer.summary.timingsBody
        }
        return bytes + send(isCut ? "response.incomplete" : "response.completed", members)
    }

    mutating func fail(_ failure: APIFailure) -> [UInt8] {
        send("response.failed", ["response": reply.body(nil, status: "failed", failure: failure)])
    }

    private mutating func send(_ type: String, _ members: JSONValue) -> [UInt8] {
        guard case .object(let rest) = members else { return [] }
        defer { number += 1 }
        return EventStream.event(
            type, .object(rest.after(["type": .string(type), "sequence_number": .integer(number)])))
    }
}
