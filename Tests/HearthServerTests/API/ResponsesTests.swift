import Foundation
import HearthBase
import HearthInference
import HearthTestSupport
import Testing

@testable import HearthServer

@Suite struct ResponsesTests {
    @Test func aResponseIsStoredContinuedReadAndDeleted() async throws {
        let api = APIFixture([
            [.text("Hello"), .finish(.endOfGeneration)], [.text("Anna"), .finish(.endOfGeneration)],
        ])
        let first = try await api.post(
            "/v1/responses", #"{"model":"tiny","input":"I am Anna","instructions":"Be brief"}"#)
        let json = try first.json
        #expect(json.text("status") == "completed")
        #expect(json.text("output/0/content/0/text") == "Hello")
        for field in ["error", "incomplete_details", "previous_response_id", "max_output_tokens"] {
            #expect(json[path: field] == .null)
        }
        let id = try #require(json.text("id"))
        let second = try await api.post(
            "/v1/responses", #"{"model":"tiny","input":"Who am I?","previous_response_id":"\#(id)"}"#)
        #expect(try second.json.text("previous_response_id") == id)
        // Instructions are not carried over.
        #expect(
            await api.engine.requests.last == [
                ChatMessage(.user, "I am Anna"), ChatMessage(.assistant, "Hello"), ChatMessage(.user, "Who am I?"),
            ])
        #expect(try await api.send("GET", "/v1/responses/\(id)").json == json)
        #expect(try await api.send("DELETE", "/v1/responses/\(id)").json[path: "deleted"] == .boolean(true))
        #expect(try await api.send("GET", "/v1/responses/\(id)").status == 404)
        let gone = try await api.post(
            "/v1/responses", #"{"model":"tiny","input":"x","previous_response_id":"\#(id)"}"#)
        #expect(gone.status == 404)
        #expect(try gone.json.text("error/param") == "previous_response_id")
    }

    @Test func countsAndResponsesOutliveAChangeOfSettings() async throws {
        let models = ScriptedModels(ScriptedEngine([[.text("Hello"), .finish(.endOfGeneration)]]))
        let answers = ServedAnswers()
        func reply(_ routes: APIRoutes, _ method: String, _ path: String, _ body: String) async throws
            -> ServerReply
        {
            try #require(
                await routes.reply(
                    to: ServerRequest(method: method, target: path, body: RequestBody(Array(body.utf8)))))
        }
        let before = APIRoutes(APIService(models, answers: answers))
        let made = try await reply(before, "POST", "/v1/responses", #"{"model":"tiny","input":"x"}"#)
        let id = try #require(try JSONValue(parsing: Data(try await made.collectedBody())).text("id"))
        let after = APIRoutes(APIService(models, answers: answers))
        #expect(try await reply(after, "GET", "/v1/responses/\(id)", "").status == 200)
        #expect(answers.metricsText.contains(#"hearth_answers_total{reason="stop"} 1"#))
    }

    @Test func aResponseThatIsNotStoredCannotBeRead() async throws {
        let api = APIFixture([[.text("Hello"), .finish(.endOfGeneration)]])
        let json = try await api.post("/v1/responses", #"{"model":"tiny","input":"x","store":false}"#).json
        let id = try #require(json.text("id"))
        #expect(try await api.send("GET", "/v1/responses/\(id)").status == 404)
    }

    @Test func aStreamNumbersItsEventsAndEndsWithTheResponse() async throws {
        let call = ToolCall(id: "c1", name: "look", arguments: "{}")
        let api = APIFixture([[.thinking("hm"), .text("a"), .text("b"), .toolCall(call), .finish(.toolCalls)]])
        let events = try await api.post("/v1/responses", #"{"model":"tiny","input":"x","stream":true}"#).events
        #expect(events.map { $0.number("sequence_number") } == events.indices.map { Double($0) })
        #expect(
            events.compactMap { $0.text("type") } == [
                "response.created", "response.in_progress", "response.output_item.added",
                "response.reasoning_text.delta", "response.reasoning_text.done", "response.output_item.done",
                "response.output_item.added", "response.content_part.added", "response.output_text.delta",
                "response.output_text.delta", "response.output_text.done", "response.content_part.done",
                "response.output_item.done", "response.output_item.added", "response.function_call_arguments.delta",
                "response.function_call_arguments.done", "response.output_item.done", "response.completed",
            ])
        let last = try #require(events.last)
        #expect(last.count("response/output") == 3)
        #expect(last.text("response/output/1/content/0/text") == "ab")
        #expect(last.text("response/output/2/call_id") == "c1")
    }

    @Test func anAnswerThatALimitCutIsIncomplete() async throws {
        let steps: [ScriptedEngine.Step] = [.text("a"), .finish(.maximumNewTokens)]
        let api = APIFixture([steps, steps])
        let own = try await api.post("/v1/responses", #"{"model":"tiny","input":"x","stream":true}"#).events
        #expect(own.last?.text("type") == "response.incomplete")
        #expect(own.last?.text("response/incomplete_details/reason") == "max_output_tokens")
        // llama.cpp's server says completed at its own path.
        let other = try await api.post("/responses", #"{"input":"x","stream":true}"#).events
        #expect(other.last?.text("type") == "response.completed")
    }

    @Test func theStoreDropsTheOldest() throws {
        let store = ResponseStore(maximumCount: 2, maximumBytes: 10_000)
        for id in ["a", "b", "c"] {
            store.keep(id, ResponseStore.Entry(messages: [], body: [1], input: []))
        }
        #expect(throws: APIFailure.self) { try store.entry("a") }
        #expect(try store.entry("c").body == [1])
        store.keep("d", ResponseStore.Entry(messages: [], body: [UInt8](repeating: 0, count: 9999), input: []))
        #expect(throws: APIFailure.self) { try store.entry("b") }
        store.keep("e", ResponseStore.Entry(messages: [], body: [UInt8](repeating: 0, count: 20_000), input: []))
        #expect(throws: APIFailure.self) { try store.entry("e") }
    }
}
