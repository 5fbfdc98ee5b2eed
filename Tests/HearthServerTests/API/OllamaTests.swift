import HearthBase
import HearthInference
import HearthTestSupport
import Testing

@testable import HearthServer

@Suite struct OllamaTests {
    @Test func chatStreamsLinesAndEndsWithTimes() async throws {
        let api = APIFixture([[.thinking("hm"), .text("a"), .text("b"), .finish(.endOfGeneration)]])
        let body = #"""
            {"model":"tiny:latest","messages":[{"role":"user","content":"Hi"}],"think":true,"keep_alive":"1h30m",
            "options":{"num_predict":9,"temperature":0,"seed":3,"stop":["X"],"num_ctx":512},"format":"json"}
            """#
        let answer = try await api.post("/api/chat", body)
        #expect(answer.headers.joined("Content-Type") == "application/x-ndjson")
        let lines = try answer.lines
        #expect(lines.compactMap { $0.text("message/content") }.joined() == "ab")
        #expect(lines.compactMap { $0.text("message/thinking") }.joined() == "hm")
        #expect(lines.dropLast().allSatisfy { $0[path: "done"] == .boolean(false) })
        let last = try #require(lines.last)
        #expect(last[path: "done"] == .boolean(true))
        #expect(last.text("done_reason") == "stop")
        for field in ["total_duration", "load_duration", "prompt_eval_duration", "eval_duration"] {
            #expect(last.number(field) != nil)
        }
        #expect(last.number("eval_count") == 3)
        let options = try #require(await api.engine.options.first)
        #expect(options.maximumNewTokens == 9)
        #expect(options.constraint == .anyObject)
        #expect(options.thinking.isEnabled)
        while api.models.kept.withLock({ $0.isEmpty }) { await Task.yield() }
        #expect(api.models.kept.withLock { $0 } == [.seconds(5400)])
    }

    @Test func generateTakesAPromptAndRawPrompts() async throws {
        let api = APIFixture([[.text("x"), .finish(.endOfGeneration)], [.text("y"), .finish(.endOfGeneration)]])
        let plain = try await api.post(
            "/api/generate", #"{"model":"tiny","prompt":"Hi","system":"S","stream":false}"#)
        #expect(try plain.json.text("response") == "x")
        let raw = try await api.post("/api/generate", #"{"model":"tiny","prompt":"Hi","raw":true,"stream":false}"#)
        #expect(try raw.json.text("response") == "y")
        #expect(await api.engine.requests.first == [ChatMessage(.system, "S"), ChatMessage(.user, "Hi")])
        #expect(await api.engine.options.map(\.usesChatTemplate) == [true, false])
    }

    @Test func anEmptyRequestLoadsAndKeepAliveZeroUnloads() async throws {
        let api = APIFixture()
        let load = try await api.post("/api/chat", #"{"model":"tiny","messages":[]}"#)
        #expect(try load.lines.last?.text("done_reason") == "load")
        let unload = try await api.post("/api/generate", #"{"model":"tiny","keep_alive":0}"#)
        #expect(try unload.lines.last?.text("done_reason") == "unload")
        #expect(api.models.unloaded.withLock { $0 } == ["tiny"])
    }

    @Test func modelsAreListedShownPulledAndDeleted() async throws {
        let api = APIFixture()
        #expect(try await api.send("GET", "/api/tags").json.text("models/0/name") == "tiny")
        #expect(try await api.send("GET", "/api/ps").json.text("models/0/model") == "tiny")
        #expect(try await api.send("GET", "/api/version").json.text("version") != nil)
        let shown = try await api.post("/api/show", #"{"model":"tiny"}"#).json
        #expect(shown.text("details/family") == "llama")
        #expect(shown.text("details/parameter_size") == "135M")
        #expect(shown[path: "capabilities"] == .array(["completion", "tools", "thinking"].map { .string($0) }))
        let pull = try await api.post("/api/pull", #"{"model":"tiny"}"#).lines
        #expect(pull.first?.text("status") == "pulling manifest")
        #expect(pull.contains { $0.number("completed") == 5 && $0.number("total") == 10 })
        #expect(pull.last?.text("status") == "success")
        #expect(try await api.post("/api/pull", #"{"model":"no"}"#).lines.last?.text("error") != nil)
        #expect(try await api.send("DELETE", "/api/delete", #"{"name":"tiny"}"#).status == 200)
        #expect(api.models.deleted.withLock { $0 } == ["tiny"])
        #expect(try await api.post("/api/show", #"{"model":"x"}"#).status == 404)
    }

    /// The engine opens a larger window when the prompt needs one.
    @Test(arguments: [9999, 4096, 512, 0]) func aRequestChoosesItsWindow(length: Int) async throws {
        let api = APIFixture([[.text("x"), .finish(.endOfGeneration)]])
        let body = #"{"model":"tiny","messages":[{"role":"user","content":"Hi"}],"options":{"num_ctx":\#(length)}}"#
        #expect(try await api.post("/api/chat", body).status == 200)
        let options = try #require(await api.engine.options.first)
        #expect(options.window == (length == 0 ? nil : length) && options.keepsAllMessages == (length == 0))
        let load = try await api.post("/api/chat", #"{"model":"tiny","options":{"num_ctx":\#(length)}}"#)
        #expect(try load.lines.last?.text("done_reason") == "load")
    }

    @Test func aPresetChoosesTheWindowOfItsRequests() async throws {
        let api = APIFixture(Array(repeating: [.text("x"), .finish(.endOfGeneration)], count: 2))
        let preset = try Preset("tiny", model: "tiny", parameters: ["num_ctx": .integer(8192)])
        api.models.preset.withLock { $0 = preset }
        let body = #"{"model":"tiny","messages":[{"role":"user","content":"Hi"}]}"#
        #expect(try await api.post("/v1/chat/completions", body).status == 200)
        #expect(try await api.post("/api/chat", body.dropLast() + #","options":{"num_ctx":600}}"#).status == 200)
        let options = await api.engine.options
        #expect(options.map(\.window) == [8192, 600])
        #expect(options.allSatisfy { !$0.keepsAllMessages })
    }

    @Test(
        arguments: [
            (#""options":{"mirostat":2}"#, "mirostat"),
            (#""options":{"temperature":"hot"}"#, "temperature"), (#""keep_alive":"soon""#, "keep_alive"),
            (#""format":"xml""#, "format"), (#""messages":[{"role":"x"}]"#, "role"),
        ])
    func refusalsNameTheField(extra: String, field: String) async throws {
        let messages = extra.hasPrefix("\"messages") ? "" : #""messages":[{"role":"user","content":"Hi"}],"#
        let answer = try await APIFixture().post("/api/chat", #"{"model":"tiny",\#(messages)\#(extra)}"#)
        #expect(answer.status == 400)
        #expect(try answer.json.text("error")?.contains(field) == true)
    }

    @Test(
        arguments: [
            ("5m", Duration.seconds(300)), ("1h30m", .seconds(5400)), ("10s", .seconds(10)),
            ("250ms", .milliseconds(250)),
            ("0", .zero), ("90", .seconds(90)), ("-1", KeepAlive.longest), ("-1m", KeepAlive.longest),
            ("1.5h", .seconds(5400)),
        ])
    func timesToStayInMemory(text: String, duration: Duration) {
        #expect(KeepAlive.duration(text) == duration)
    }

    @Test(arguments: ["", "m", "5x", "five", "5m5", "--1m"])
    func textsThatAreNoTimes(text: String) { #expect(KeepAlive.duration(text) == nil) }
}
