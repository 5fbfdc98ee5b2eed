import Foundation
import HearthAssistant
import HearthBase
import HearthHTTP

extension ChatRoutes {
    /// The address of an import, whose bodies may be larger than others.
    static let importPath = NativeRouter.base + "/data/chats/import"
    static let importLimit = ConversationImport.maximumSize

    /// Lists, search, and all conversations as files.
    var lists: [NativeRoute] {
        [
            .plain(
                "GET", "/chats", "The conversations: pinned ones first, then those changed last",
                query: [
                    ("limit", "at most 500"), ("before", "`next` of the page before"),
                    ("archived", "true for archived conversations only, all for both kinds; otherwise without them"),
                    ("pinned", "true or false"), ("folder", "the name of a folder"),
                    ("offset", "the conversations to leave out, of all in the order of their last change"),
                ]
            ) { call in try await list(call) },
            .plain(
                "GET", "/chats/search", "The conversations whose title or messages have words",
                query: [
                    ("q", "the words"), ("limit", "at most 50"), ("before", "`next` of the page before"),
                    ("from", "the first moment of found messages"), ("until", "the moment before which they are"),
                ]
            ) { call in
                try await desk.search(
                    ConversationSearch(
                        String((call.query("q") ?? "").prefix(500)), from: try Self.moment(call, "from"),
                        until: try Self.moment(call, "until"), limit: try call.number("limit", 1...50, default: 20),
                        before: call.query("before")))
            },
            .raw(
                "GET", "/data/chats/export", "All conversations with their branches and pictures as one file",
                mediaType: "application/json", output: { try $0.schema(of: AnyBody.self) }
            ) { _ in exportAll() },
            .raw(
                "POST", "/data/chats/import", "Import conversations of Hearth, ChatGPT or Open WebUI",
                input: NativeRoute.Input(
                    example: nil, mediaTypes: ["application/json", "application/zip", "application/octet-stream"],
                    describe: { _ in .object(["type": .string("string"), "format": .string("binary")]) },
                    check: { _ in }),
                mediaType: "application/json", output: { try $0.schema(of: ImportBody.self) }
            ) { call in try await importAll(call) },
            .plain("DELETE", "/data/chats", "Remove all conversations and the journal of actions") { _ in
                try await desk.eraseAll()
                return EmptyBody()
            },
        ]
    }

    private func list(_ call: NativeCall) async throws -> ChatsBody {
        let event = desk.log.lastID
        let limit = try call.number("limit", 1...500, default: 50)
        if call.query("offset") != nil {
            return try await desk.chats(
                limit: limit, offset: try call.number("offset", 0...1_000_000, default: 0), event: event)
        }
        let archived = call.query("archived")
        guard [nil, "true", "false", "all"].contains(archived) else {
            throw NativeFailure.bad("archived", "true, false or all")
        }
        return try await desk.chats(
            ConversationQuery(
                archived: archived == "all" ? nil : archived == "true",
                pinned: call.query("pinned") == nil ? nil : try call.flag("pinned"),
                folder: call.query("folder"), limit: limit, before: call.query("before")), event: event)
    }

    private static func moment(_ call: NativeCall, _ name: String) throws -> Date? {
        guard let text = call.query(name) else { return nil }
        guard let time = Timestamp(text) else {
            throw NativeFailure.bad(name, "a time such as 2026-11-24T09:30:00Z")
        }
        return time.date
    }

    private func exportAll() -> ServerReply {
        let headers: HTTPHeaders = [
            "Content-Type": "application/json", "Cache-Control": "no-store", "X-Content-Type-Options": "nosniff",
            "Content-Disposition": "attachment; filename=\"hearth-conversations.json\"",
        ]
        let desk = desk
        return ServerReply(
            status: 200, headers: headers,
            body: .stream { writer in
                let archive = ConversationArchive(await desk.assistant.conversations)
                try await archive.write { try await writer.write([UInt8]($0)) }
            })
    }

    private func importAll(_ call: NativeCall) async throws -> ServerReply {
        let type = call.request.headers["Content-Type"]?.prefix { $0 != ";" }.trimmed.lowercased() ?? ""
        let known = [
            "application/json", "application/zip", "application/x-zip-compressed", "application/octet-stream",
        ]
        guard known.contains(type) else {
            throw NativeFailure(415, "media-type", "the body must be JSON or a ZIP archive", field: "Content-Type")
        }
        return try NativeRoute.json(try await desk.importChats(call.request.body))
    }
}
