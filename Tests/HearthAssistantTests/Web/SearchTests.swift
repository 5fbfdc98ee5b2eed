import Foundation
import HearthBase
import HearthHTTP
import HearthInference
import HearthTestSupport
import Testing

@testable import HearthAssistant

@Suite struct SearchTests {
    private func provider(_ server: FaultServer, _ path: String = "") throws -> SearXNG {
        SearXNG(address: try server.url(path), client: CurlHTTPClient())
    }

    @Test func resultsOfTheServerAreRead() async throws {
        let server = try FaultServer { _ in
            .text(
                #"{"query":"x","results":[{"title":"One","url":"https://a.example/1","content":"first  hit\nhere"},{"title":"","url":"https://a.example/2"},{"title":"bad","url":"javascript:alert(1)"},{"title":3},"x"]}"#
            )
        }
        let results = try await provider(server, "/searx/").search("C++ & Swift", limit: 5)
        #expect(results.map(\.title) == ["One", "https://a.example/2"])
        #expect(results.first?.excerpt == "first hit here")
        #expect(server.requests.first?.target == "/searx/search?q=C%2B%2B%20%26%20Swift&format=json")
        #expect(try await provider(server).search("x", limit: 1).count == 1)
    }

    @Test(arguments: [
        (403, "{}"), (429, "{}"), (500, "no"), (200, "<html>"), (200, "{}"), (200, #"{"results":7}"#), (302, ""),
    ])
    func otherAnswersAreFailures(_ status: Int, _ body: String) async throws {
        let server = try FaultServer { _ in .text(body, status: status) }
        let error = await #expect(throws: AssistantError.self) { try await provider(server).search("x", limit: 3) }
        #expect(error?.code == .searchFailed)
    }

    @Test func theUsersOwnTextsAreFound() async throws {
        let conversations = MemoryConversationStore()
        let message = AssistantMessage(
            role: .user, content: "the plumber is called Smith", date: Date(timeIntervalSince1970: 1))
        await conversations.save(message, in: "c")
        let provider = OwnTextSearch(notes: nil, conversations: conversations)
        #expect(!provider.isRemote)
        let found = try await provider.search("plumber", limit: 3)
        #expect(found.map(\.id) == ["c"] && found.first?.url == nil)
        #expect(try await provider.search("electrician", limit: 3).isEmpty)
    }
}
