import Foundation
import HearthBase
import HearthTestSupport

@testable import HearthAssistant

/// Exports of other programs, as they write them.
enum ImportSample {
    /// A node of ChatGPT's mapping.
    static func node(
        _ id: String, _ parent: String?, _ role: String? = nil, _ text: String = "", time: String = "1700000000.5",
        kind: String = "text", parts: String? = nil, metadata: String = "{}", recipient: String = "all"
    ) -> String {
        let parentText = parent.map { "\"\($0)\"" } ?? "null"
        guard let role else {
            return #""\#(id)": {"id": "\#(id)", "message": null, "parent": \#(parentText), "children": []}"#
        }
        return #"""
            "\#(id)": {"id": "\#(id)", "parent": \#(parentText), "children": [], "message": {
                "id": "\#(id)", "author": {"role": "\#(role)", "name": null}, "create_time": \#(time),
                "content": {"content_type": "\#(kind)", "parts": \#(parts ?? "[\"\(text)\"]")},
                "status": "finished_successfully", "metadata": \#(metadata), "recipient": "\#(recipient)", "weight": 1.0}}
            """#
    }

    static func chatGPT(
        _ id: String = "11111111-aaaa", title: String = "Trip", nodes: [String]? = nil, current: String = "a2",
        created: String = "1700000000.0", changed: String = "1700000900.25", more: String = ""
    ) -> String {
        let all =
            nodes ?? [
                node("root", nil),
                node("s", "root", "system", "", metadata: #"{"is_visually_hidden_from_conversation": true}"#),
                node("u1", "s", "user", "Where to go?", time: "1700000100"),
                node("a1", "u1", "assistant", "Lisbon.", time: "1700000200", metadata: #"{"model_slug": "gpt-4o"}"#),
                node("t", "u1", "assistant", "search()", kind: "code", recipient: "browser"),
                node("tool", "t", "tool", "results"),
                node("a2", "tool", "assistant", "Porto.", time: "1700000300", metadata: #"{"model_slug": "gpt-4o"}"#),
                node(
                    "u2", "a2", "user", kind: "multimodal_text",
                    parts:
                        #"[{"content_type": "image_asset_pointer", "asset_pointer": "file-service://x"}, "And this?"]"#),
            ]
        return #"""
            {"title": "\#(title)", "create_time": \#(created), "update_time": \#(changed), "mapping": {\#(all.joined(separator: ", "))},
             "current_node": "\#(current)", "conversation_id": "\#(id)", "id": "\#(id)", "is_archived": false\#(more)}
            """#
    }

    static func openWebUI(_ id: String = "22222222-bbbb", title: String = "Bread", more: String = "") -> String {
        #"""
        {"id": "\#(id)", "user_id": "u", "title": "\#(title)", "updated_at": 1700000500, "created_at": 1700000000,
         "archived": true, "pinned": true, "meta": {}, "folder_id": null, "share_id": null,
         "chat": {"id": "", "title": "\#(title)", "models": ["llama3:latest"], "timestamp": 1700000000000, "messages": [],
          "history": {"currentId": "y2", "messages": {
            "x": {"id": "x", "parentId": null, "childrenIds": ["y1", "y2"], "role": "user", "content": "Bake bread", "timestamp": 1700000010},
            "y1": {"id": "y1", "parentId": "x", "childrenIds": [], "role": "assistant", "content": "Flour.", "model": "llama3:latest", "timestamp": 1700000020},
            "y2": {"id": "y2", "parentId": "x", "childrenIds": [], "role": "assistant", "content": "Rye.", "model": "llama3:latest", "modelName": "Llama 3", "timestamp": 1700000030}
          }}}\#(more)}
        """#
    }
}

/// A store and the imports into it.
struct ImportDesk {
    let folder: TemporaryFolder
    let store: any ConversationStore
    static let now = Date(timeIntervalSince1970: 1_800_000_000)

    init(_ store: (any ConversationStore)? = nil) async throws {
        folder = try TemporaryFolder()
        if let store {
            self.store = store
        } else {
            self.store = SQLiteConversationStore(try await AssistantDatabase.open(home: nil))
        }
    }

    func run(
        _ data: Data, busy: Set<String> = []
    ) async throws -> ConversationImport.Report {
        let name = "\(UInt64.random(in: 0 ... .max))"
        let file = try folder.write("\(name)/upload", data)
        let importer = ConversationImport(into: store, now: Self.now) { busy.contains($0) }
        return try await importer.run(file, scratch: folder.path(name))
    }

    func run(_ text: String, busy: Set<String> = []) async throws -> ConversationImport.Report {
        try await run(Data(text.utf8), busy: busy)
    }

    /// All conversations as the archive of this program.
    func archive() async throws -> Data {
        let written = Locked(Data())
        try await ConversationArchive(store).write { piece in written.withLock { $0 += piece } }
        return written.withLock { $0 }
    }
}

extension ConversationImport.Report {
    /// Imported, updated, skipped and refused conversations.
    var counts: String { "\(imported) \(updated) \(skipped) \(refused)" }
}
