import Foundation
import HearthBase
import HearthHTTP

extension ResidentServer {
    /// The routes of the process, with whole paths. The server keeps them, and they do not keep the server.
    var routes: [NativeRoute] {
        [
            .raw(
                "GET", "/health", "Whether the loaded models answer", mediaType: "application/json",
                otherStatuses: [503], output: Self.form(["status": .words("ok", "failing"), "models": .integer])
            ) { [unowned self] _ in
                let (isWell, models) = await home.health()
                return .json(
                    .object(["status": .string(isWell ? "ok" : "failing"), "models": .integer(models)]),
                    status: isWell ? 200 : 503)
            },
            .raw(
                "GET", "/ready", "Whether the server takes requests", mediaType: "application/json",
                output: Self.form(["status": .words("ready")])
            ) { [unowned self] _ in
                isReady
                    ? .json(.object(["status": .string("ready")])) : .failure(503, "ending", "the server ends")
            },
            .raw("GET", "/metrics", "Counts for Prometheus", mediaType: "text/plain") { [unowned self] _ in
                ServerReply(
                    status: 200,
                    headers: [
                        "Content-Type": "text/plain; version=0.0.4; charset=utf-8", "Cache-Control": "no-store",
                    ],
                    body: .bytes(Array(await metricsText().utf8)))
            },
            description("/openapi.json"), description("/hearth/v1/openapi.json"),
            .raw(
                "GET", "/hearth/v1/status", "The process, its models and its requests", mediaType: "application/json",
                output: Self.form(.object)
            ) { [unowned self] _ in .json(.object(await status())) },
            .raw(
                "GET", "/hearth/v1/jobs", "The running jobs", mediaType: "application/json",
                output: Self.form(.list(["id": .text, "kind": .text, "started": .text, "model?": .text]))
            ) { [unowned self] _ in .json(.array(jobs.running.map(\.facts))) },
            change("/hearth/v1/jobs/{id}/cancel", "End a job", status: 202, ["status": .text]) { server, call in
                guard server.jobs.cancel(call.value("id")) else {
                    return .failure(404, "unknown-job", "there is no such job")
                }
                return .json(.object(["status": .string("taken")]), status: 202)
            },
            .raw(
                "POST", "/hearth/v1/pull", "Fetch and install a model",
                input: NativeRoute.Input(
                    example: #"{"model": "smollm2-135m-instruct"}"#, mediaTypes: ["application/json"],
                    describe: { try $0.schema(of: PullJob.self) },
                    check: { _ = try JSONDecoder().decode(PullJob.self, from: Data($0)) }),
                mediaType: "application/x-ndjson"
            ) { [unowned self] call in
                try NativeRoute.requireJSON(call.request)
                return await pull(call.request)
            },
            change(
                "/hearth/v1/open", "Make a code that signs a browser in", ["path": .text, "url?": .text]
            ) { server, call in
                // A code makes keys: a session, which a stranger may have got hold of, makes no codes.
                guard call.request.caller != .page else { return RequestGuard.Refusal.noOwner.reply }
                var reply: JSONMembers = ["path": .string(server.home.sessions.oneTimePath())]
                // The same for other machines, with a code of its own.
                reply["url"] = await server.home.invite(.printed).map { .string($0.url) }
                return .json(.object(reply))
            },
            change("/hearth/v1/reload", "Read the settings again", ["status": .text]) { server, _ in
                await server.home.reload()
                return .json(.object(["status": .string("read")]))
            },
            change("/hearth/v1/stop", "End the process", status: 202, ["status": .text]) { server, _ in
                server.stopping.open()
                return .json(.object(["status": .string("ending")]), status: 202)
            },
        ]
    }

    private static func form(_ form: JSONForm) -> @Sendable (SchemaMaker) throws -> JSONValue { { _ in form.schema } }

    /// A route that changes something. Its body is JSON, or there is none.
    private func change(
        _ path: String, _ summary: String, status: Int = 200, _ form: JSONForm,
        _ work: @escaping @Sendable (ResidentServer, NativeCall) async throws -> ServerReply
    ) -> NativeRoute {
        .raw("POST", path, summary, mediaType: "application/json", status: status, output: Self.form(form)) {
            [unowned self] call in
            try NativeRoute.requireJSON(call.request)
            return try await work(self, call)
        }
    }

    /// The route of the description: one path for callers that ask models, one beside the page's API.
    private func description(_ path: String) -> NativeRoute {
        .raw("GET", path, "This description", mediaType: "application/json", output: Self.form(.object)) {
            [unowned self] _ in
            let document = try OpenAPI.document(
                page.routes, own: router.routes, dialects: try home.description(), version: home.version)
            return .bytes(document.bytes, "application/json")
        }
    }
}
