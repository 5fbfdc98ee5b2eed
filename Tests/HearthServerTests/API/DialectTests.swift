#if Server
    import HearthBase
    import HearthInference
    import HearthTestSupport
    import Testing

    @testable import HearthServer

    @Suite struct AnthropicTests {
        private static let call = ToolCall(id: "tool_1", name: "look", arguments: #"{"at":"sky"}"#)

        @Test func anAnswerHasBlocksReasonAndCounts() async throws {
            var steps: [ScriptedEngine.Step] = [.thinking("hm"), .text("Hello"), .toolCall(Self.call)]
            steps.append(.finish(.toolCalls))
            let api = APIFixture([steps])
            let body = #"""
                {"model":"tiny","max_tokens":50,"system":[{"type":"text","text":"A"}],"thinking":{"type":"enabled","budget_tokens":30},
                "messages":[{"role":"user","content":"Hi"}],"stop_sequences":["X"],
                "tools":[{"name":"look","input_schema":{"type":"object"}}]}
                """#
            let json = try await api.post("/v1/messages", body).json
            #expect(json.text("type") == "message")
            #expect(json.text("content/0/thinking") == "hm")
            #expect(json.text("content/1/text") == "Hello")
            #expect(json.text("content/2/type") == "tool_use")
            #expect(json.text("content/2/input/at") == "sky")
            #expect(json.text("stop_reason") == "tool_use")
            for field in [
                "stop_sequence", "stop_details", "container", "usage/cache_creation", "usage/server_tool_use",
            ] {
                #expect(json[path: field] == .null)
            }
            #expect(json.number("usage/output_tokens") == 2)
            let options = try #require(await api.engine.options.first)
            #expect(options.maximumNewTokens == 50)
            #expect(options.thinking.maximumTokens == 30)
            #expect(options.stopStrings == ["X"])
            #expect(await api.engine.requests.first?.first == ChatMessage(.system, "A"))
        }

        @Test func aStreamOpensAndClosesBlocksInOrder() async throws {
            var steps: [ScriptedEngine.Step] = [.event(.phase(.prefill(done: 2, total: 9)))]
            steps += [.thinking("hm"), .text("a"), .text("b"), .toolCall(Self.call), .finish(.toolCalls)]
            let api = APIFixture([steps])
            let body = #"{"model":"tiny","max_tokens":50,"stream":true,"messages":[{"role":"user","content":"Hi"}]}"#
            let events = try await api.post("/v1/messages", body).events
            #expect(
                events.compactMap { $0.text("type") } == [
                    "message_start", "ping", "content_block_start", "content_block_delta", "content_block_delta",
                    "content_block_stop", "content_block_start", "content_block_delta", "content_block_delta",
                    "content_block_stop", "content_block_start", "content_block_delta", "content_block_stop",
                    "message_delta", "message_stop",
                ])
            #expect(events[0].number("message/usage/input_tokens") == 7)
            #expect(events[0].number("message/usage/cache_read_input_tokens") == 2)
            let starts = events.filter { $0.text("type") == "content_block_start" }
            #expect(starts.map { $0.number("index") } == [0, 1, 2])
            #expect(events.compactMap { $0.text("delta/text") }.joined() == "ab")
            #expect(events.compactMap { $0.text("delta/partial_json") }.joined() == #"{"at":"sky"}"#)
            #expect(events[13].text("delta/stop_reason") == "tool_use")
        }

        @Test func resultsOfToolsBecomeMessagesOfTheirOwn() async throws {
            let api = APIFixture([[.finish(.endOfGeneration)]])
            let body = #"""
                {"model":"tiny","max_tokens":5,"messages":[{"role":"user","content":"Look"},
                {"role":"assistant","content":[{"type":"thinking","thinking":"hm","signature":""},
                {"type":"tool_use","id":"t1","name":"look","input":{"at":"sky"}}]},
                {"role":"user","content":[{"type":"text","text":"Here:"},
                {"type":"tool_result","tool_use_id":"t1","is_error":true,"content":[{"type":"text","text":"dark"}]}]}]}
                """#
            #expect(try await api.post("/v1/messages", body).status == 200)
            let messages = try #require(await api.engine.requests.first)
            #expect(messages.map(\.role) == [.user, .assistant, .tool, .user])
            #expect(messages[1].thinking == "hm")
            #expect(messages[2].content == "Error: dark")
            #expect(messages[2].toolName == "look")
            #expect(messages[3].content == "Here:")
        }

        @Test(
            arguments: [
                (#"{"model":"tiny","messages":[]}"#, 400, "invalid_request_error"),
                (#"{"max_tokens":5,"messages":[]}"#, 400, "invalid_request_error"),
                (#"{"model":"tiny","max_tokens":5}"#, 400, "invalid_request_error"),
                (#"{"model":"nope","max_tokens":5,"messages":[]}"#, 404, "not_found_error"),
                (
                    #"{"model":"tiny","max_tokens":5,"messages":[],"tools":[{"type":"web_search_20250305","name":"w"}]}"#,
                    400, "invalid_request_error"
                ),
                (
                    #"{"model":"tiny","max_tokens":5,"messages":[{"role":"user","content":[{"type":"document"}]}]}"#,
                    400,
                    "invalid_request_error"
                ),
            ])
        func refusalsHaveAnthropicsForm(body: String, status: Int, type: String) async throws {
            let answer = try await APIFixture().post("/v1/messages", body)
            #expect(answer.status == status)
            #expect(try answer.json.text("type") == "error")
            #expect(try answer.json.text("error/type") == type)
        }

        @Test func pictureForAModelWithoutEyesIsWhatClientsOfLlamaServerExpect() async throws {
            let picture =
                "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg=="
            let body = #"""
                {"model":"tiny","max_tokens":5,"messages":[{"role":"user","content":[{"type":"image","source":
                {"type":"base64","media_type":"image/png","data":"\#(picture)"}}]}]}
                """#
            let answer = try await APIFixture().post("/v1/messages", body)
            #expect(answer.status == 500)
            #expect(try answer.json.text("error/message")?.contains("image input is not supported") == true)
            let api = APIFixture([[.finish(.endOfGeneration)]], abilities: APIFixture.abilities.union(.vision))
            #expect(try await api.post("/v1/messages", body).status == 200)
            #expect(await api.engine.requests.first?.first?.images.count == 1)
        }
    }

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

        @Test(
            arguments: [
                (#""options":{"num_ctx":9999}"#, "num_ctx"), (#""options":{"mirostat":2}"#, "mirostat"),
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

    @Suite struct LlamaServerTests {
        private static func report(_ text: String) -> ScriptedEngine.Step {
            let chance = TokenReport.Chance(token: 7, bytes: Array(text.utf8), logProbability: -0.5)
            return .event(.token(TokenReport(chosen: chance, alternatives: [chance, chance])))
        }

        @Test func aCompletionHasTokensProbabilitiesAndSettings() async throws {
            let api = APIFixture([[Self.report("a"), .text("a"), .finish(.maximumNewTokens)]])
            let json = try await api.post(
                "/completion", #"{"prompt":"x","n_predict":1,"n_probs":2,"return_tokens":true,"seed":9}"#
            ).json
            #expect(json.text("content") == "a")
            #expect(json[path: "tokens"] == .array([.number("7")]))
            #expect(json.text("stop_type") == "limit")
            #expect(json.count("completion_probabilities/0/top_logprobs") == 2)
            #expect(json.number("generation_settings/n_predict") == 1)
            #expect(json.number("generation_settings/seed") == 9)
            #expect(json.number("timings/predicted_n") == 1)
        }

        @Test func theFieldsOfTheReplyCanBeChosen() async throws {
            let api = APIFixture([[.text("a"), .finish(.maximumNewTokens)]])
            let json = try await api.post(
                "/completion",
                #"{"prompt":"x","n_predict":3,"response_fields":["content","generation_settings/n_predict","nothing"]}"#
            ).json
            guard case .object(let members) = json else { throw APIFailure(.failed, "no object") }
            #expect(members == ["content": .string("a"), "generation_settings/n_predict": .number("3")])
        }

        @Test func aStreamWithProbabilitiesSendsOneObjectForEachToken() async throws {
            let steps = [Self.report("a"), Self.report("b"), .text("ab"), .finish(.maximumNewTokens)]
            let api = APIFixture([steps])
            let events = try await api.post("/completion", #"{"prompt":"x","n_probs":2,"stream":true}"#).events
            #expect(events.map { $0[path: "stop"] } == [.boolean(false), .boolean(false), .boolean(true)])
            #expect(events.dropLast().allSatisfy { $0.count("completion_probabilities") == 1 })
            #expect(events.compactMap { $0.text("content") }.joined() == "ab")
        }

        @Test func promptsAreTextsTokensOrLists() async throws {
            let answer: [ScriptedEngine.Step] = [.text("a"), .finish(.endOfGeneration)]
            let api = APIFixture([answer, answer, answer, answer])
            #expect(try await api.post("/completion", #"{"prompt":[1,2,3]}"#).json.text("content") == "a")
            #expect(try await api.post("/completion", #"{"prompt":[[1,2],[4]]}"#).json.count("") == 2)
            #expect(try await api.post("/completion", #"{"prompt":{"prompt_string":"x"}}"#).status == 200)
            let tokens = Set(await api.engine.options.map(\.promptTokens))
            #expect(tokens == [[1, 2, 3], [1, 2], [4], nil])
        }

        @Test(
            arguments: [
                #"{}"#, #"{"prompt":{}}"#, #"{"prompt":[]}"#, #"{"prompt":[[]]}"#, #"{"prompt":[1.5]}"#,
                #"{"prompt":{"prompt_string":"x","multimodal_data":["a"]}}"#, #"{"prompt":"x","mirostat":2}"#,
                #"{"prompt":"x","n_probs":1000}"#, #"{"prompt":"x","logit_bias":[[1]]}"#, #"{"prompt":[99999999999]}"#,
            ])
        func refusals(body: String) async throws {
            #expect(try await APIFixture().post("/completion", body).status == 400)
        }

        @Test func propertiesAndSlotsTellNoPath() async throws {
            let api = APIFixture()
            let json = try await api.send("GET", "/props").json
            #expect(json.text("model_path") == "tiny.gguf")
            #expect(json.number("default_generation_settings/n_ctx") == 4096)
            #expect(json.number("total_slots") == 1)
            let slots = try await api.send("GET", "/slots").json
            #expect(slots[path: "0/is_processing"] == .boolean(false))
        }
    }
#endif
