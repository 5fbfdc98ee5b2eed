import Foundation
import HearthAssistant
import HearthBase
import HearthHTTP
import HearthTestSupport
import Testing

@testable import HearthServer

/// Documents over the native API.
@Suite(.timeLimit(.minutes(5))) struct DocumentCallTests {
    private func upload(
        _ fixture: NativeFixture, _ bytes: [UInt8], query: String = "?name=notes.md",
        type: String? = "application/octet-stream", length: UInt64? = nil
    ) async throws -> (status: Int, body: JSONValue) {
        var headers: HTTPHeaders = [:]
        headers["Content-Type"] = type
        let body = length.map { RequestBody(declaredLength: $0, drained: {}) } ?? RequestBody(bytes)
        let reply = try #require(
            await fixture.service.reply(
                to: ServerRequest(
                    method: "POST", target: "/hearth/v1/documents" + query, headers: headers, caller: .owner, body: body
                )))
        return (reply.status, try JSONValue(parsing: Data(try await reply.collectedBody())))
    }

    @Test func aDocumentGoesWithAMessageAndStaysReadable() async throws {
        try await NativeFixture.with(["The key is blue."]) { fixture in
            try await fixture.download()
            let facts = try await upload(fixture, Array("# The key is blue".utf8))
            #expect(facts.status == 201)
            #expect(facts.body["name"]?.text == "notes.md")
            #expect(facts.body["kind"]?.text == "markdown")
            #expect(facts.body["bytes"]?.int == 17)
            #expect(facts.body["characters"]?.int == 17)
            #expect(facts.body["tokens"]?.int == 6)
            #expect(facts.body["isEstimated"] == .boolean(true))
            let id = try #require(facts.body["id"]?.text)
            #expect(try await fixture.call("GET", "/documents/\(id)").body == facts.body)
            let chat = try #require(try await fixture.call("POST", "/chats", "{}").body["chat"]?["id"]?.text)
            let turn = try await fixture.call(
                "POST", "/chats/\(chat)/messages", #"{"text": "Which?", "documents": ["\#(id)"]}"#)
            #expect(turn.status == 202)
            let answer = turn.body["answer"]
            try await fixture.event("message") { $0["message"]?["id"] == answer && $0["message"]?["facts"] != nil }
            let seen = try await fixture.call("GET", "/chats/\(chat)").body["messages"]?[0]
            #expect(seen?["content"]?.text == "Which?")
            let attachment = try #require(seen?["attachments"]?[0])
            #expect(attachment["name"]?.text == "notes.md")
            #expect(attachment["text"] == nil)
            #expect(seen?["documents"] == nil)
            let path = try #require(attachment["url"]?.text).dropFirst("/hearth/v1".count)
            let reply = try #require(await fixture.reply("GET", String(path)))
            #expect(String(decoding: try await reply.collectedBody(), as: UTF8.self) == "# The key is blue")
            #expect(reply.headers["Content-Type"] == "text/plain; charset=utf-8")
            #expect(reply.headers["Content-Security-Policy"] == "default-src 'none'; sandbox")
            // The message has taken it.
            #expect(try await fixture.call("GET", "/documents/\(id)").status == 404)
            let question = try await fixture.service.chats.openChat(chat).session.messages.first
            #expect(
                question?.rawContent?.hasPrefix("<file source=\"file notes.md\">\n# The key is blue\n</file>\n\nWhich?")
                    == true)
        }
    }

    @Test func nothingOfADocumentStaysInTheHome() async throws {
        let folder = try TemporaryFolder()
        try folder.write("home/server/documents/abc", Data("private".utf8))
        let fixture = try await NativeFixture(folder: folder)
        let place = folder.path("home/server/documents")
        // Left by an ended process.
        #expect(try LocalFileSystem().status(at: place) == nil)
        let read = try await upload(fixture, Array("words".utf8))
        let refused = try await upload(fixture, [0, 1, 2])
        #expect(read.status == 201 && refused.status == 422)
        #expect(try LocalFileSystem().contents(of: place).isEmpty)
        let facts = try FileManager.default.attributesOfItem(atPath: place.string)
        #expect(facts[.posixPermissions] as? Int == 0o700)
        await fixture.close()
    }

    @Test func refusalsHaveTheirCodesAndNumbers() async throws {
        try await NativeFixture.with { fixture in
            let large = try await upload(fixture, [], length: 200 << 20)
            #expect(large.status == 413)
            #expect(large.body["error"]?["code"]?.text == "large-document")
            #expect(large.body["error"]?["message"]?.text?.contains("209.7 MB") == true)
            #expect(large.body["error"]?["message"]?.text?.contains("52.4 MB") == true)
            let cases: [([UInt8], String, String?, Int, String)] = [
                ([0, 1, 2], "", "application/octet-stream", 422, "unknown-document"),
                (Array("%PDF-1.4 broken".utf8), "", "application/octet-stream", 422, "unreadable-document"),
                (Array("x".utf8), "?pages=0", "application/octet-stream", 400, "bad-request"),
                (Array("x".utf8), "", "text/plain", 415, "media-type"),
                (Array("x".utf8), "", "multipart/form-data; boundary=x", 415, "media-type"),
                (Array("x".utf8), "", nil, 415, "media-type"),
            ]
            for (bytes, query, type, status, code) in cases {
                let reply = try await upload(fixture, bytes, query: query, type: type)
                #expect(reply.status == status, "\(code)")
                #expect(reply.body["error"]?["code"]?.text == code)
            }
            #expect(try await fixture.call("DELETE", "/documents/nothing").status == 200)
            #expect(try await fixture.call("GET", "/documents/nothing").status == 404)
        }
    }

    @Test func messagesNameKnownDocuments() async throws {
        try await NativeFixture.with { fixture in
            try await fixture.download()
            let chat = try #require(try await fixture.call("POST", "/chats", "{}").body["chat"]?["id"]?.text)
            let unknown = try await fixture.call(
                "POST", "/chats/\(chat)/messages", #"{"text": "a", "documents": ["x"]}"#)
            #expect(unknown.status == 404)
            #expect(unknown.body["error"]?["field"]?.text == "documents")
            let ids = (0..<11).map { "\"\($0)\"" }.joined(separator: ",")
            let many = try await fixture.call(
                "POST", "/chats/\(chat)/messages", #"{"text": "a", "documents": [\#(ids)]}"#)
            #expect(many.status == 400)
            #expect(try await fixture.call("GET", "/chats/\(chat)/documents/x/0").status == 404)
        }
    }

    @Test func documentsLeaveAfterAnHourAndWhenThereAreTooMany() throws {
        let clock = ManualClock()
        let desk = DocumentDesk(bounds: .init(count: 2, bytes: 100, lifetime: 60), time: clock.time)
        func add(_ text: String) -> String {
            desk.add(
                UploadedDocument(
                    document: Document(name: "a", kind: .text, bytes: 1, text: text), tokens: 1, isEstimated: true)
            ).id
        }
        let ids = ["1", "2", "3"].map(add)
        #expect(throws: NativeFailure.self) { try desk.document(ids[0]) }
        #expect(try desk.document(ids[2]).document.text == "3")
        let large = add(String(repeating: "x", count: 90))
        _ = add(String(repeating: "y", count: 90))
        #expect(throws: NativeFailure.self) { try desk.document(large) }
    }
}
