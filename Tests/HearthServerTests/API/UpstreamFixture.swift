import Foundation
import Hearth
import HearthBase
import HearthHTTP
import HearthInference
import HearthRouting
import HearthTestSupport

@testable import HearthServer

/// A server of a vendor's kind with one model, `big`, that answers from a script.
enum UpstreamScript {
    static let key = "k3y-of-the-upstream"

    /// The list of models.
    static func list(_ kind: UpstreamKind, _ names: [String] = ["big"]) -> Reply {
        let items = names.map { name in
            switch kind {
            case .openai: #"{"id":"\#(name)","object":"model","created":1700000000,"max_model_len":8192}"#
            case .anthropic: #"{"id":"\#(name)","type":"model","display_name":"Big"}"#
            case .gemini:
                #"{"name":"models/\#(name)","supportedGenerationMethods":["generateContent"],"inputTokenLimit":8192}"#
            }
        }
        let field = kind == .gemini ? "models" : "data"
        return json(#"{"\#(field)":[\#(items.joined(separator: ","))]}"#)
    }

    /// One answer as the kind streams it: thinking `Hm`, text `Grüße`, and the call of `look` if there are tools.
    static func answer(_ kind: UpstreamKind, calls: Bool = false) -> Reply {
        var lines: [String]
        switch kind {
        case .openai:
            lines = [
                #"{"choices":[{"delta":{"reasoning_content":"Hm"}}]}"#, #"{"choices":[{"delta":{"content":"Grüße"}}]}"#,
            ]
            if calls {
                lines += [
                    #"{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"c1","function":{"name":"look","arguments":"{\"a"}}]}}]}"#,
                    #"{"choices":[{"delta":{"tool_calls":[{"index":0,"function":{"arguments":"t\":\"sky\"}"}}]}}]}"#,
                ]
            }
            lines += [
                #"{"choices":[{"delta":{},"finish_reason":"\#(calls ? "tool_calls" : "stop")"}]}"#,
                #"{"choices":[],"usage":{"prompt_tokens":7,"completion_tokens":5,"prompt_tokens_details":{"cached_tokens":3}}}"#,
                "[DONE]",
            ]
        case .anthropic:
            lines = [
                #"{"type":"message_start","message":{"usage":{"input_tokens":4,"cache_read_input_tokens":3}}}"#,
                #"{"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":"Hm"}}"#,
                #"{"type":"content_block_start","index":1,"content_block":{"type":"text","text":"Grüße"}}"#,
            ]
            if calls {
                lines += [
                    #"{"type":"content_block_start","index":2,"content_block":{"type":"tool_use","id":"c1","name":"look"}}"#,
                    #"{"type":"content_block_delta","index":2,"delta":{"partial_json":"{\"at\":\"sky\"}"}}"#,
                ]
            }
            lines += [
                #"{"type":"message_delta","delta":{"stop_reason":"\#(calls ? "tool_use" : "end_turn")"},"usage":{"output_tokens":5}}"#,
                #"{"type":"message_stop"}"#,
            ]
        case .gemini:
            let call = calls ? #",{"functionCall":{"name":"look","args":{"at":"sky"}}}"# : ""
            lines = [
                #"{"candidates":[{"content":{"parts":[{"text":"Hm","thought":true},{"text":"Grüße"}\#(call)]},"finishReason":"STOP"}],"#
                    + #""usageMetadata":{"promptTokenCount":7,"cachedContentTokenCount":3,"candidatesTokenCount":5}}"#
            ]
        }
        return stream(lines)
    }

    static func stream(_ lines: [String]) -> Reply {
        Reply(
            headers: ["Content-Type": "text/event-stream"],
            body: .data(Data(lines.map { "data: \($0)\n\n" }.joined().utf8))
        ).framed(.chunked)
    }

    static func json(_ text: String, status: Int = 200) -> Reply {
        Reply(status, headers: ["Content-Type": "application/json"], body: .data(Data(text.utf8)))
    }

    /// A body that calls itself JSON.
    static func bytes(_ bytes: [UInt8]) -> Reply {
        Reply(headers: ["Content-Type": "application/json"], body: .data(Data(bytes)))
    }

    /// Serves the list, and `answer` to every question.
    static func handler(
        _ kind: UpstreamKind, _ answer: @escaping @Sendable (RecordedRequest) -> Reply
    ) -> FaultServer.Handler {
        { request in request.method == "GET" ? list(kind) : answer(request) }
    }

    static func settings(_ name: String, _ kind: UpstreamKind, _ server: FaultServer) throws -> UpstreamSettings {
        var settings = UpstreamSettings(name, kind, url: try server.url(""))
        settings.key = UpstreamKey(name, environment: ["HEARTH_UPSTREAM_\(name.uppercased())_KEY": key])
        return settings
    }
}

/// The API over upstreams and the models of a home.
struct UpstreamFixture {
    let folder: TemporaryFolder?
    let upstreams: Upstreams
    let routes: APIRoutes
    /// Servers that stop with the fixture.
    private let servers: [FaultServer]

    /// - Parameters:
    ///   - hearth: the models of this device; `nil` for none.
    ///   - servers: those that run as long as the fixture.
    init(
        _ settings: [UpstreamSettings], aliases: [String: [String]] = [:], hearth: Hearth? = nil,
        time: TimeSource = .system, keeping servers: [FaultServer] = []
    ) throws {
        self.servers = servers
        let folder = hearth == nil ? try TemporaryFolder() : nil
        self.folder = folder
        let home = try hearth ?? Hearth(home: required(folder).path("home"), engines: EngineRegistry())
        upstreams = Upstreams(client: { CurlHTTPClient() }, time: time)
        upstreams.use(settings)
        let models = ServedModels(
            HearthModels(home), upstreams, aliases: aliases, settings: APISettings(), time: time)
        routes = APIRoutes(APIService(models, time: ManualClock().time))
    }

    /// The API over one upstream, `far`, whose server runs as long as the fixture.
    init(
        _ server: FaultServer, _ kind: UpstreamKind = .openai, time: TimeSource = .system,
        changing change: (inout UpstreamSettings) -> Void = { _ in }
    ) throws {
        var settings = try UpstreamScript.settings("far", kind, server)
        change(&settings)
        try self.init([settings], time: time, keeping: [server])
    }

    func send(
        _ method: String, _ path: String, _ body: String = "", headers: HTTPHeaders = [:]
    ) async throws -> APIFixture.Answer {
        let request = ServerRequest(
            method: method, target: path, headers: headers, body: RequestBody(Array(body.utf8)))
        let reply = await routes.reply(to: request) ?? .text(404, "no route")
        return APIFixture.Answer(
            status: reply.status, headers: reply.headers, bytes: try await reply.collectedBody())
    }

    func post(_ path: String, _ body: String) async throws -> APIFixture.Answer { try await send("POST", path, body) }

    /// A question of Chat Completions.
    func ask(_ model: String, _ more: String = "") async throws -> APIFixture.Answer {
        try await post(
            "/v1/chat/completions", #"{"model":"\#(model)","messages":[{"role":"user","content":"Hi"}]\#(more)}"#)
    }
}
