import Foundation
import HearthAssistant
import HearthBase
import HearthHTTP
import HearthTestSupport
import Testing

@testable import HearthServer

/// Lists, places, search, export and import of conversations over the native API.
@Suite(.timeLimit(.minutes(5))) struct ChatListCallTests {
    /// Puts conversations of one question each into the store.
    private func fill(_ fixture: NativeFixture, _ count: Int) async throws {
        let conversations = (0..<count).map { index in
            let date = Timestamp(milliseconds: 1_700_000_000_000 + Int64(index) * 60_000)
            return #"""
                {"version": 1, "conversation": {"id": "c\#(index)", "title": "Title \#(index)", "created": "\#(date)", "changed": "\#(date)"},
                 "messages": [{"id": "q", "role": "user", "content": "Where is Lisbon \#(index)?", "isThinking": false, "thinkingContent": "",
                  "images": [], "cards": [], "notices": [], "date": "\#(date)"}]}
                """#
        }
        let report = try await fixture.call(
            "POST", "/data/chats/import", #"{"conversations": [\#(conversations.joined(separator: ","))]}"#)
        #expect(report.status == 200)
        #expect(report.body["imported"]?.int == count)
    }

    private func ids(_ body: JSONValue) -> [String?] { body["chats"]?.items.map { $0["id"]?.text } ?? [] }

    @Test func pagesPinsFoldersAndTheArchive() async throws {
        try await NativeFixture.with { fixture in
            try await fill(fixture, 7)
            var page = try await fixture.call("GET", "/chats?limit=3").body
            #expect(ids(page) == ["c6", "c5", "c4"])
            page = try await fixture.call("GET", "/chats?limit=3&before=\(page["next"]?.text ?? "")").body
            #expect(ids(page) == ["c3", "c2", "c1"])
            #expect(page["folders"] == nil)
            page = try await fixture.call("GET", "/chats?limit=3&before=\(page["next"]?.text ?? "")").body
            #expect(ids(page) == ["c0"] && page["next"] == nil)
            let pinned = try await fixture.call(
                "PATCH", "/chats/c2", #"{"pinned": true, "folder": " Reisen  Süd "}"#)
            #expect(pinned.body["chat"]?["pinned"] == .boolean(true))
            #expect(pinned.body["chat"]?["folder"]?.text == "Reisen Süd")
            try await fixture.event("chat") { $0["chat"]?["pinned"] == .boolean(true) }
            #expect(try await fixture.call("PATCH", "/chats/c3", #"{"archived": true}"#).status == 200)
            // One that is open keeps its place too.
            #expect(try await fixture.call("GET", "/chats/c4").status == 200)
            let open = try await fixture.call("PATCH", "/chats/c4", #"{"title": "Other", "folder": "Reisen Süd"}"#)
            #expect(open.body["chat"]?["title"]?.text == "Other")
            page = try await fixture.call("GET", "/chats").body
            #expect(ids(page) == ["c2", "c6", "c5", "c4", "c1", "c0"])
            #expect(page["folders"]?[0]?["name"]?.text == "Reisen Süd" && page["folders"]?[0]?["count"]?.int == 2)
            #expect(page["archivedCount"]?.int == 1)
            #expect(ids(try await fixture.call("GET", "/chats?archived=true").body) == ["c3"])
            #expect(ids(try await fixture.call("GET", "/chats?archived=all&limit=500").body).count == 7)
            #expect(ids(try await fixture.call("GET", "/chats?folder=Reisen%20S%C3%BCd").body) == ["c2", "c4"])
            #expect(ids(try await fixture.call("GET", "/chats?limit=2&offset=5").body) == ["c1", "c0"])
            let cleared = try await fixture.call("PATCH", "/chats/c4", #"{"folder": ""}"#)
            #expect(cleared.body["chat"]?["folder"] == nil)
            #expect(cleared.body["chat"]?["title"]?.text == "Other")
            let long = try await fixture.call(
                "PATCH", "/chats/c4", #"{"folder": "\#(String(repeating: "x", count: 61))"}"#)
            #expect(long.status == 422)
            #expect(long.body["error"]?["code"]?.text == "unusable-folder")
            #expect(long.body["error"]?["field"]?.text == "folder")
        }
    }

    @Test func theSearchReachesAllConversations() async throws {
        try await NativeFixture.with { fixture in
            try await fill(fixture, 45)
            #expect(try await fixture.call("PATCH", "/chats/c7", #"{"archived": true}"#).status == 200)
            var found: [JSONValue] = []
            var next: String? = ""
            while let before = next {
                let page = try await fixture.call("GET", "/chats/search?q=lisbon&before=\(before)").body
                found += page["hits"]?.items ?? []
                next = page["next"]?.text
            }
            #expect(found.map { $0["chat"]?["id"]?.text } == (0..<45).reversed().map { "c\($0)" })
            #expect(found.allSatisfy { $0["count"]?.int == 1 && $0["message"]?.text == "q" })
            #expect(found.filter { $0["chat"]?["archived"] == .boolean(true) }.count == 1)
            let from = Timestamp(milliseconds: 1_700_000_000_000 + 40 * 60_000)
            #expect(try await fixture.call("GET", "/chats/search?q=lisbon&from=\(from)").body["hits"]?.items.count == 5)
            let until = Timestamp(milliseconds: 1_700_000_000_000 + 120_000)
            #expect(
                try await fixture.call("GET", "/chats/search?q=lisbon&until=\(until)").body["hits"]?.items.count == 2)
            let title = try await fixture.call("GET", "/chats/search?q=title").body["hits"]
            #expect(title?.items.count == 20 && title?[0]?["message"] == nil)
        }
    }

    @Test func aFreshHomeAfterAnExportIsEqual() async throws {
        try await NativeFixture.with { fixture in
            try await fill(fixture, 5)
            #expect(try await fixture.call("PATCH", "/chats/c1", #"{"pinned": true, "folder": "F"}"#).status == 200)
            let export = try #require(await fixture.reply("GET", "/data/chats/export"))
            #expect(export.headers["Content-Disposition"]?.contains("hearth-conversations.json") == true)
            let bytes = try await export.collectedBody()
            let again = try await fixture.call(
                "POST", "/data/chats/import", String(decoding: bytes, as: UTF8.self))
            #expect(again.body["skipped"]?.int == 5 && again.body["imported"]?.int == 0)
            try await NativeFixture.with { fresh in
                let report = try await fresh.call(
                    "POST", "/data/chats/import", String(decoding: bytes, as: UTF8.self))
                #expect(report.body["imported"]?.int == 5)
                try await fresh.event("reset") { $0["reason"]?.text == "imported" }
                let other = try #require(await fresh.reply("GET", "/data/chats/export"))
                #expect(try await other.collectedBody() == bytes)
                var lists: [JSONValue?] = []
                for home in [fixture, fresh] { lists.append(try await home.call("GET", "/chats").body["chats"]) }
                #expect(lists[0] == lists[1])
            }
            // A removed conversation comes back, and opens.
            #expect(try await fixture.call("DELETE", "/chats/c3").status == 200)
            let back = try await fixture.call("POST", "/data/chats/import", String(decoding: bytes, as: UTF8.self))
            #expect(back.body["imported"]?.int == 1)
            #expect(try await fixture.call("GET", "/chats/c3").body["messages"]?.items.count == 1)
        }
    }

    @Test func anOpenConversationShowsWhatAnImportAdds() async throws {
        try await NativeFixture.with { fixture in
            try await fill(fixture, 1)
            #expect(try await fixture.call("GET", "/chats/c0").body["messages"]?.items.count == 1)
            let export = try #require(await fixture.reply("GET", "/data/chats/export"))
            let text = String(decoding: try await export.collectedBody(), as: UTF8.self)
            let more = text.replacing(
                #","messages":["#,
                with: #"""
                    ,"messages":[{"id":"a","role":"assistant","content":"South","isThinking":false,"thinkingContent":"","images":[],
                    "cards":[],"notices":[],"date":"2030-01-01T00:00:00.000Z","parent":"q"},
                    """#
            ).replacing(#""leaf":"q""#, with: #""leaf":"a""#)
            #expect(try await fixture.call("POST", "/data/chats/import", more).body["updated"]?.int == 1)
            let messages = try await fixture.call("GET", "/chats/c0").body["messages"]
            #expect(messages?.items.map { $0["content"]?.text } == ["Where is Lisbon 0?", "South"])
        }
    }

    private func conversations(_ count: Int) -> [UInt8] {
        let all = (0..<count).map { index in
            #"""
            {"version": 1, "conversation": {"id": "c\#(index)", "title": "T", "created": "2026-01-01T00:00:00.000Z",
             "changed": "2026-01-01T00:00:00.000Z"}, "messages": [{"id": "q", "role": "user", "content": "Where?",
             "isThinking": false, "thinkingContent": "", "images": [], "cards": [], "notices": [],
             "date": "2026-01-01T00:00:00.000Z"}]}
            """#
        }
        return Array("[\(all.joined(separator: ","))]".utf8)
    }

    private func importing(_ body: RequestBody, _ fixture: NativeFixture) -> Task<ServerReply?, Never> {
        let request = ServerRequest(
            method: "POST", target: "/hearth/v1/data/chats/import", headers: ["Content-Type": "application/json"],
            caller: .owner, body: body)
        return Task { await fixture.service.reply(to: request) }
    }

    /// A closed page ends no import: restored conversations open, and clients learn of them.
    @Test func anImportGoesOnWithoutItsClient() async throws {
        try await NativeFixture.with { fixture in
            try await fill(fixture, 1)
            #expect(try await fixture.call("GET", "/chats/c0").status == 200)
            #expect(try await fixture.call("DELETE", "/data/chats").status == 200)
            try await fixture.event("reset") { $0["reason"]?.text == "erased" }
            let request = importing(RequestBody(conversations(200)), fixture)
            while try await fixture.call("GET", "/chats").body["chats"]?.items.isEmpty != false { await Task.yield() }
            request.cancel()
            _ = await request.value
            while await fixture.service.chats.isImporting { await Task.yield() }
            #expect(try await fixture.call("GET", "/chats?limit=500").body["chats"]?.items.count == 200)
            #expect(try await fixture.call("GET", "/chats/c0").body["messages"]?.items.count == 1)
            let resets = try fixture.events.filter { $0.name == "reset" }.map { $0.data["reason"]?.text }
            #expect(resets == ["imported", "erased", "imported"])
        }
    }

    /// An import that ends with the server shows what it has kept.
    @Test func anImportThatEndsMidwayShowsWhatItKept() async throws {
        try await NativeFixture.with { fixture in
            try await fill(fixture, 1)
            #expect(try await fixture.call("GET", "/chats/c0").status == 200)
            #expect(try await fixture.call("DELETE", "/data/chats").status == 200)
            let request = importing(RequestBody(conversations(400)), fixture)
            while try await fixture.call("GET", "/chats").body["chats"]?.items.isEmpty != false { await Task.yield() }
            await fixture.service.chats.stopAll()
            _ = await request.value
            #expect(await !fixture.service.chats.isImporting)
            #expect(try await fixture.call("GET", "/chats/c0").body["messages"]?.items.count == 1)
            let resets = try fixture.events.filter { $0.name == "reset" }.map { $0.data["reason"]?.text }
            #expect(resets == ["imported", "erased", "imported"])
        }
    }

    @Test func nothingIsErasedWhileAFileComes() async throws {
        try await NativeFixture.with { fixture in
            let bytes = conversations(1)
            let body = RequestBody(declaredLength: UInt64(bytes.count)) {}
            let request = importing(body, fixture)
            while await !fixture.service.chats.isImporting { await Task.yield() }
            let refused = try await fixture.call("DELETE", "/data/chats")
            #expect(refused.status == 409 && refused.body["error"]?["code"]?.text == "busy")
            _ = body.append(bytes)
            body.finish()
            #expect(await request.value?.status == 200)
            #expect(try await fixture.call("DELETE", "/data/chats").status == 200)
            // A cut upload ends the import, and the next one is taken.
            let cut = RequestBody(declaredLength: 9) {}
            cut.finish(.failure(ServerError.clientLeft))
            #expect(await importing(cut, fixture).value?.status != 200)
            #expect(await importing(RequestBody(bytes), fixture).value?.status == 200)
        }
    }

    @Test func aTooLargeFileIsRefusedBeforeItIsRead() async throws {
        try await NativeFixture.with { fixture in
            let body = RequestBody(declaredLength: 201 << 20) {}
            let request = ServerRequest(
                method: "POST", target: "/hearth/v1/data/chats/import", headers: ["Content-Type": "application/zip"],
                caller: .owner, body: body)
            let reply = try #require(await fixture.service.reply(to: request))
            #expect(reply.status == 413)
            let chats = try await fixture.call("GET", "/chats").body["chats"]
            #expect(chats?.items.isEmpty == true)
        }
    }

    @Test func aPrivateConversationIsNeitherExportedNorSearched() async throws {
        try await NativeFixture.with(["Secret answer."]) { fixture in
            try await fixture.download()
            let id = try #require(
                try await fixture.call("POST", "/chats", #"{"isPrivate": true}"#).body["chat"]?["id"]?.text)
            _ = try await fixture.call("POST", "/chats/\(id)/messages", #"{"text": "Secret question"}"#)
            try await fixture.event("chat") {
                $0["chat"]?["isAnswering"] == .boolean(false) && $0["chat"]?["messageCount"]?.int == 2
            }
            #expect(ids(try await fixture.call("GET", "/chats").body) == [id])
            #expect(try await fixture.call("PATCH", "/chats/\(id)", #"{"archived": true}"#).status == 200)
            #expect(ids(try await fixture.call("GET", "/chats").body) == [])
            #expect(ids(try await fixture.call("GET", "/chats?archived=true").body) == [id])
            #expect(try await fixture.call("GET", "/chats/search?q=secret").body["hits"]?.items.isEmpty == true)
            let export = try #require(await fixture.reply("GET", "/data/chats/export"))
            #expect(!String(decoding: try await export.collectedBody(), as: UTF8.self).contains("Secret"))
        }
    }
}
