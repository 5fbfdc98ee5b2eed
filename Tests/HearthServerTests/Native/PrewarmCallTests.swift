import Foundation
import HearthBase
import HearthInference
import Testing

@testable import HearthServer

/// Questions that are read while they are written on the page.
@Suite(.timeLimit(.minutes(5))) struct PrewarmCallTests {
    private func prepared(_ fixture: NativeFixture, _ count: Int) async -> [[ChatMessage]] {
        while await fixture.engine.preparations.count < count { await Task.yield() }
        return await fixture.engine.preparations
    }

    @Test func theInstructionsAreReadAndNothingIsSeenOfIt() async throws {
        try await NativeFixture.with { fixture in
            try await fixture.download()
            let before = try await fixture.call("GET", "/chats").body["chats"]
            #expect(try await fixture.call("POST", "/chats/prewarm", #"{"text": ""}"#).status == 202)
            let first = await prepared(fixture, 1)
            #expect(first[0].last?.content == "" && first[0].last?.role == .user)
            #expect(try await fixture.call("GET", "/chats").body["chats"] == before)
            let id = try #require(try await fixture.call("POST", "/chats", "{}").body["chat"]?["id"]?.text)
            #expect(try await fixture.call("POST", "/chats/prewarm", #"{"chat": "\#(id)", "text": ""}"#).status == 202)
            _ = await prepared(fixture, 2)
            let chat = try await fixture.call("GET", "/chats/\(id)").body
            #expect(chat["messages"]?.items.isEmpty == true)
            #expect(try await fixture.call("POST", "/chats/prewarm", #"{"chat": "x", "text": ""}"#).status == 404)
            let long = String(repeating: "a", count: 600_000)
            #expect(try await fixture.call("POST", "/chats/prewarm", #"{"text": "\#(long)"}"#).status == 400)
        }
    }

    @Test func theEngineForgetsARemovedPrivateConversation() async throws {
        try await NativeFixture.with { fixture in
            try await fixture.download()
            for (isPrivate, count) in [(false, 0), (true, 1)] {
                let made = try await fixture.call("POST", "/chats", #"{"isPrivate": \#(isPrivate)}"#).body
                let id = try #require(made["chat"]?["id"]?.text)
                #expect(
                    try await fixture.call("POST", "/chats/prewarm", #"{"chat": "\#(id)", "text": ""}"#).status == 202)
                _ = await prepared(fixture, count + 1)
                #expect(try await fixture.call("DELETE", "/chats/\(id)").status == 200)
                #expect(await fixture.engine.forgettings == count)
            }
        }
    }
}
