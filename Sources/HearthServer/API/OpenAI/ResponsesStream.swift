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
    /// The text of the open item.
    private var said = ""
    /// The number of the open message: an answer that searches the web can have several.
    private var messages = 0
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
            let start = opened(.reasoning)
            said += text
            return start
                + send("response.reasoning_text.delta", piece(reply.reasoningID, ["delta": .string(text)]))
        case .text(let text):
            var members: JSONValue = ["delta": .string(text), "logprobs": .array(ResponsesReply.logs(tokens))]
            if reply.form.extras.timesEachPiece { members["timings"] = live.body(reply.run.watch.elapsed) }
            tokens = []
            let start = opened(.message)
            said += text
            return start + send("response.output_text.delta", piece(messageID, members))
        case .toolCall(let call):
            let request = reply.form.request
            guard !request.shown([call]).isEmpty, request.callsInParallel || answer.toolCalls.count == 1 else {
                return []
            }
            return tool(call)
        case .toolResult(let call, let content): return search(APIAnswer.Search(call: call, content: content))
        case .phase, .truncated, .picturesLeftOut, .finish: return []
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
        said = ""
        index += 1
        if kind == .message { messages += 1 }
        let item =
            kind == .message
            ? reply.message([], id: messageID, status: "in_progress") : reply.reasoning(nil, status: "in_progress")
        let added = send("response.output_item.added", ["output_index": .integer(index), "item": item])
        guard kind == .message else { return closed + added }
        return closed + added
            + send("response.content_part.added", piece(messageID, ["part": reply.part("")]))
    }

    private var messageID: String { messages > 1 ? "\(reply.messageID)_\(messages)" : reply.messageID }

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
                "response.reasoning_text.done", piece(reply.reasoningID, ["text": .string(said)]))
            item = reply.reasoning(said, status: status)
        case .message:
            let part = reply.part(said, tokens: answer.tokens)
            bytes += send(
                "response.output_text.done",
                piece(messageID, ["text": .string(said), "logprobs": part["logprobs"] ?? []]))
            bytes += send("response.content_part.done", piece(messageID, ["part": part]))
            item = reply.message([part], id: messageID, status: status)
        }
        return bytes + send("response.output_item.done", ["output_index": .integer(index), "item": item])
    }

    private mutating func tool(_ call: ToolCall) -> [UInt8] {
        var bytes = closed()
        index += 1
        let place: JSONValue = .integer(index)
        let made = ResponsesCall(call, reply.run.request.toolNames)
        let id: JSONValue = .string(made.id)
        bytes += send(
            "response.output_item.added",
            ["output_index": place, "item": made.item(status: "in_progress", isEmpty: true)])
        if let (event, member, text) = made.pieces {
            bytes += send(
                event + ".delta", ["item_id": id, "output_index": place, "delta": .string(text)])
            var end: JSONValue = ["item_id": id, "output_index": place]
            end["name"] = made.endName
            end[member] = .string(text)
            bytes += send(event + ".done", end)
        }
        return bytes
            + send(
                "response.output_item.done", ["output_index": place, "item": made.item(status: "completed")])
    }

    /// The events of a search that this server has run.
    private mutating func search(_ search: APIAnswer.Search) -> [UInt8] {
        var bytes = closed()
        index += 1
        let place: JSONValue = .integer(index)
        bytes += send(
            "response.output_item.added",
            ["output_index": place, "item": reply.search(search, status: "in_progress")])
        for step in ["in_progress", "searching", "completed"] {
            bytes += send(
                "response.web_search_call." + step,
                ["output_index": place, "item_id": .string("ws_" + search.call.id)])
        }
        return bytes
            + send(
                "response.output_item.done",
                ["output_index": place, "item": reply.search(search, status: "completed")])
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
