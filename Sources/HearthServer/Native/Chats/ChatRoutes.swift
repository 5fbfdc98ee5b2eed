import Foundation
import HearthAssistant
import HearthBase
import HearthHTTP
import HearthInference

/// The routes of conversations.
struct ChatRoutes: Sendable {
    let desk: ChatDesk

    var all: [NativeRoute] { lists + chats + messages }

    /// Titles, export, pictures.
    private var chats: [NativeRoute] {
        [
            .json("POST", "/chats", "Begin a conversation", status: 201, example: #"{"isPrivate": false}"#) {
                (_, order: NewChatOrder) in OneChatBody(chat: try await desk.create(order))
            },
            .plain("GET", "/chats/{id}", "A conversation with its messages") { call in
                try await desk.snapshot(call.value("id"), event: desk.log.lastID)
            },
            .json(
                "PATCH", "/chats/{id}", "Name a conversation, pin or archive it, move it, or change its own settings",
                example:
                    #"{"title": "Holidays", "pinned": true, "folder": "Travel", "settings": {"model": "tiny", "route": null}}"#
            ) { (call, order: ChatOrder) in
                OneChatBody(chat: try await desk.change(call.value("id"), order))
            },
            .json(
                "POST", "/chats/settings", "Check the settings of a conversation that is yet to begin",
                example: #"{"settings": {"instructions": "Answer in rhymes.", "maximumNewTokens": 400}}"#
            ) { (_, order: NewChatSettingsOrder) in try await desk.check(order) },
            .plain("DELETE", "/chats/{id}", "Remove a conversation") { call in
                try await desk.remove(call.value("id"))
                return EmptyBody()
            },
            .raw(
                "GET", "/chats/{id}/export", "A conversation as a file",
                query: [("format", "markdown or json")], mediaType: "text/markdown"
            ) { call in try await export(call) },
            .raw(
                "GET", "/chats/{id}/pictures/{message}/{number}", "A picture of a message", mediaType: "image/png"
            ) { call in try await picture(call) },
            .raw(
                "POST", "/pictures", "Upload a picture for the next message",
                input: NativeRoute.Input(
                    example: nil, mediaTypes: ["image/png", "image/jpeg", "image/bmp"],
                    describe: { _ in .object(["type": .string("string"), "format": .string("binary")]) },
                    check: { _ in }),
                mediaType: "application/json", status: 201, output: { try $0.schema(of: UploadBody.self) }
            ) { call in try await upload(call) },
            .plain("DELETE", "/pictures/{id}", "Forget an uploaded picture") { call in
                desk.pictures.remove([call.value("id")])
                return EmptyBody()
            },
        ]
    }

    /// Messages and answers.
    private var messages: [NativeRoute] {
        [
            .json(
                "POST", "/chats/prewarm", "Read a question while it is written, so that its answer begins sooner",
                status: 202, example: #"{"chat": "id of the conversation", "text": "Hello, can you"}"#
            ) { (_, order: DraftOrder) in
                guard order.text.utf8.count <= Self.textLimit else {
                    throw NativeFailure.bad("text", "a text of at most \(Self.textLimit) bytes")
                }
                try await desk.prewarm(order.chat, order.text)
                return EmptyBody()
            },
            .json(
                "POST", "/chats/{id}/messages", "Send a message and answer it", status: 202,
                example: #"{"text": "Hello", "pictures": [], "think": true}"#
            ) { (call, order: SendOrder) in try await send(order, to: call.value("id")) },
            .plain("POST", "/chats/{id}/stop", "Stop the answer; what came stays", status: 202) { call in
                try await desk.stop(call.value("id"))
                return EmptyBody()
            },
            .plain("POST", "/chats/{id}/answer-now", "End the thinking; the answer follows", status: 202) { call in
                try await desk.answerNow(call.value("id"))
                return EmptyBody()
            },
            .json(
                "POST", "/chats/{id}/regenerate", "Answer again, as another branch", status: 202,
                example: #"{"message": "id of the answer"}"#
            ) { (call, order: MessageOrder) in
                try await desk.begin(call.value("id")) { session, control in
                    await session.regenerate(order.message, control: control)
                }
            },
            .json(
                "POST", "/chats/{id}/edit", "Send another text in place of a question", status: 202,
                example: #"{"message": "id of the question", "text": "Hello again"}"#
            ) { (call, order: EditOrder) in
                let text = try Self.text(order.text)
                return try await desk.begin(call.value("id")) { session, control in
                    await session.edit(order.message, to: text, control: control)
                }
            },
            .json(
                "POST", "/chats/{id}/continue", "Continue the last answer, which is not complete", status: 202,
                example: #"{"message": "id of the answer", "source": "local"}"#
            ) { (call, order: ContinueOrder) in
                try await desk.begin(call.value("id")) { session, _ in
                    await session.goOn(order.message, with: order.source)
                }
            },
            .json(
                "POST", "/chats/{id}/show", "Show the branch of a message", example: #"{"message": "id"}"#
            ) { (call, order: MessageOrder) in
                guard let message = order.message else { throw NativeFailure.bad("message", "the id of a message") }
                try await desk.show(message, in: call.value("id"))
                return try await desk.snapshot(call.value("id"), event: desk.log.lastID)
            },
            .plain("DELETE", "/chats/{id}/messages/{message}", "Remove a message with all that follow") { call in
                try await desk.removeMessage(call.value("message"), of: call.value("id"))
                return EmptyBody()
            },
        ]
    }

    /// The most bytes of a message.
    private static let textLimit = 512 << 10

    static func text(_ text: String) throws -> String {
        guard text.utf8.count <= textLimit, text.contains(where: { !$0.isWhitespace }) else {
            throw NativeFailure.bad("text", "a text of at most \(textLimit) bytes")
        }
        return text
    }

    private func send(_ order: SendOrder, to id: String) async throws -> TurnBody {
        let ids = order.pictures ?? []
        let images = try desk.pictures.pictures(ids)
        let documents = try desk.documents.documents(order.documents ?? [])
        let isAlone = images.isEmpty && documents.isEmpty
        let text = isAlone ? try Self.text(order.text) : order.text
        let act = order.act.map { tag in ActionTag(rawValue: tag) }
        if let act {
            guard try await desk.openChat(id).session.registry.action(act) != nil else {
                throw NativeFailure.bad("act", "the tag of an action")
            }
        }
        if order.model != nil || order.think != nil {
            try await desk.configure(id, ChatSettingsOrder(model: order.model, thinks: order.think))
        }
        let turn = try await desk.begin(id) { session, control in
            await session.send(
                text, images: images + documents.flatMap(\.pictures), documents: documents.map(\.document), act: act,
                control: control)
        }
        desk.pictures.remove(ids)
        desk.documents.remove(order.documents ?? [])
        return turn
    }

    // MARK: Files

    private func export(_ call: NativeCall) async throws -> ServerReply {
        let session = try await desk.openChat(call.value("id")).session
        let isJSON = call.query("format") == "json"
        let export = await session.export(allBranches: isJSON)
        let data = try isJSON ? export.json() : Data(export.markdown().utf8)
        var headers: HTTPHeaders = ["Cache-Control": "no-store", "X-Content-Type-Options": "nosniff"]
        headers["Content-Type"] = isJSON ? "application/json" : "text/markdown; charset=utf-8"
        headers["Content-Disposition"] =
            "attachment; filename=\"conversation.\(isJSON ? "json" : "md")\"; filename*=UTF-8''"
            + Self.fileName(export.conversation.title) + (isJSON ? ".json" : ".md")
        return ServerReply(status: 200, headers: headers, body: .bytes([UInt8](data)))
    }

    /// A file name of a title, percent-encoded.
    private static func fileName(_ title: String) -> String {
        let name = title.filter { $0.isLetter || $0.isNumber || $0 == " " || $0 == "-" }.prefix(60)
        let plain = name.trimmingCharacters(in: .whitespaces)
        return PercentText.encoded(plain.isEmpty ? "conversation" : plain)
    }

    private func picture(_ call: NativeCall) async throws -> ServerReply {
        let session = try await desk.openChat(call.value("id")).session
        guard let number = Int(call.value("number")),
            let message = await session.tree.message(call.value("message")),
            message.images.indices.contains(number)
        else { throw NativeFailure.missing("such picture") }
        let image = message.images[number]
        // Of a private conversation nothing is kept, in a browser neither.
        let caching = session.isPrivate ? "no-store" : "private, max-age=86400, immutable"
        return ServerReply(
            status: 200,
            headers: [
                "Content-Type": image.mediaType, "Cache-Control": caching,
                "X-Content-Type-Options": "nosniff", "Content-Security-Policy": "default-src 'none'; sandbox",
                "ETag": "\"\(image.digest.hex.prefix(32))\"",
            ], body: .bytes(image.bytes))
    }

    private func upload(_ call: NativeCall) async throws -> ServerReply {
        let type = call.request.headers["Content-Type"]?.lowercased() ?? ""
        guard type.hasPrefix("image/") || type.hasPrefix("application/octet-stream") else {
            throw NativeFailure(415, "media-type", "the body must be a picture: PNG, JPEG or BMP")
        }
        let bytes = try await call.request.body.collect(limit: PictureDesk.uploadLimit)
        let image = try await blocking { try ChatImage(bytes) }
        return try NativeRoute.json(desk.pictures.add(image), status: 201)
    }
}
