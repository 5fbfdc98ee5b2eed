import Foundation
import HearthBase
import HearthHTTP
import HearthInference
import HearthRouting

/// Answers the requests of all API dialects.
///
/// ```swift
/// let routes = APIRoutes(APIService(provider))
/// if let reply = await routes.reply(to: request) { … }
/// ```
package struct APIRoutes: Sendable {
    package let service: APIService
    let table: [String: Route]

    /// What a route needs to reply.
    struct Call: Sendable {
        let request: ServerRequest
        let service: APIService
        /// The rest of the path, for routes that end with a name.
        let name: String
        /// Collects the parts of the request that are left out.
        let leftOut = LeftOut()

        /// The fields of the body.
        func fields() async throws -> Fields {
            let body: [UInt8]
            do {
                body = try await request.body.collect(limit: Fields.maximumBytes)
            } catch let error as ServerError where error.code == .bodyTooLarge {
                throw APIFailure(.tooLarge, error.message)
            }
            // Parsing a large body takes longer than a cooperative thread may be blocked.
            guard body.count > 64 << 10 else { return try Fields(parsing: body, notes: leftOut) }
            return try await blocking { [leftOut] in try Fields(parsing: body, notes: leftOut) }
        }
    }

    /// The dialect, which decides the form of errors.
    enum Dialect: Sendable, CaseIterable {
        case openAI, anthropic, ollama

        func body(_ failure: APIFailure) -> JSONValue {
            switch self {
            case .openAI: OpenAIFailure.body(failure)
            case .anthropic: AnthropicFailure.body(failure)
            case .ollama: OllamaFailure.body(failure)
            }
        }

        func status(_ failure: APIFailure) -> Int {
            self == .anthropic ? AnthropicFailure.status(failure) : failure.status
        }
    }

    struct Route: Sendable {
        let dialect: Dialect
        var scope = ServerScope.chat
        let description: RouteDescription
        let answer: @Sendable (Call) async throws -> ServerReply
    }

    /// The routes of a service.
    package init(_ service: APIService) {
        self.service = service
        var table: [String: Route] = [:]
        for routes in [Self.openAI, Self.llamaServer, Self.anthropic, Self.ollama] {
            table.merge(routes) { $1 }
        }
        self.table = table
    }

    /// The route of a request. Its key is the method and the path; a path that ends with `*` takes any name.
    private func route(_ method: String, _ path: String) -> (route: Route, name: String)? {
        let method = method == "HEAD" ? "GET" : method
        if let route = table["\(method) \(path)"] { return (route, "") }
        // The names of models may have slashes.
        var rest = path[...]
        while let slash = rest.lastIndex(of: "/") {
            let name = String(path[path.index(after: slash)...])
            if !name.isEmpty, let route = table["\(method) \(path[...slash])*"] { return (route, name) }
            rest = rest[..<slash]
        }
        return nil
    }

    /// The right that a request needs; `nil` if no dialect has its path.
    package func scope(_ method: String, _ path: String) -> ServerScope? {
        if let found = route(method, path) { return found.route.scope }
        return methods(path).isEmpty ? nil : .chat
    }

    private func methods(_ path: String) -> [String] {
        ["GET", "POST", "DELETE"].filter { route($0, path) != nil }
    }

    /// The reply to a request; `nil` if no dialect has its path.
    package func reply(to request: ServerRequest) async -> ServerReply? {
        let path = request.target.path
        guard let (route, name) = route(request.method, path) else {
            let methods = methods(path)
            guard let other = methods.first.flatMap({ self.route($0, path) }) else { return nil }
            let failure = APIFailure(.notFound, "\(path) takes \(methods.joined(separator: ", "))")
            var reply = Self.json(other.route.dialect.body(failure), status: 405)
            reply.headers.append("Allow", methods.joined(separator: ", "))
            return reply
        }
        let call = Call(request: request, service: service, name: name)
        let trace = AnswerTrace()
        let hops = UpstreamHops.read(request.headers[UpstreamHops.header])
        var reply = await AnswerTrace.$current.withValue(trace) {
            await UpstreamHops.$count.withValue(hops) {
                do {
                    let reply = try await route.answer(call)
                    call.leftOut.addUnread()
                    return reply
                } catch {
                    return Self.refusal(APIFailure(error), route.dialect)
                }
            }
        }
        var notes = Self.note(trace, in: &reply)
        if let kinds = call.leftOut.text {
            reply.headers.append(LeftOut.header, kinds)
            notes.append("left-out=" + call.leftOut.kinds.joined(separator: ","))
        }
        if !notes.isEmpty { reply.note = notes.joined(separator: ";") }
        return reply
    }

    /// Names the model that answers in the place of an alias, and those that were tried before it.
    /// - Returns: the same for the log of requests.
    private static func note(_ trace: AnswerTrace, in reply: inout ServerReply) -> [String] {
        func field(_ text: String) -> String {
            String(String.UnicodeScalarView(text.unicodeScalars.map { (" "..."~").contains($0) ? $0 : "?" }))
        }
        var notes: [String] = []
        if let model = trace.answering {
            reply.headers.append("X-Hearth-Answered-By", field(model))
            notes.append("answered-by=" + field(model))
        }
        if !trace.passed.isEmpty {
            reply.headers.append("X-Hearth-Passed-Over", field(trace.passed.joined(separator: ", ")))
            notes.append(
                "passed-over=" + field(trace.passed.map { $0.replacing(" ", with: ":") }.joined(separator: ",")))
        }
        return notes
    }

    // MARK: Replies

    static func refusal(_ failure: APIFailure, _ dialect: Dialect) -> ServerReply {
        var reply = json(dialect.body(failure), status: dialect.status(failure))
        if let seconds = failure.retryAfterSeconds { reply.headers.append("Retry-After", "\(seconds)") }
        return reply
    }

    static func json(_ body: JSONValue, status: Int = 200) -> ServerReply {
        .bytes(body.bytes, "application/json; charset=utf-8", status: status)
    }

    /// Streams the events of a run.
    static func stream<Encoder: StreamEncoder>(_ run: APIRun, _ encoder: Encoder, _ call: Call) -> ServerReply {
        let (time, ending) = (call.service.time, call.request.ending)
        return .stream(Encoder.contentType) { writer in
            var encoder = encoder
            let pings = Encoder.contentType == EventStream.contentType ? writer.pinging(time) : nil
            defer { pings?.cancel() }
            let beginning = encoder.begin()
            if !beginning.isEmpty { try await writer.write(beginning) }
            do {
                for try await event in run.events {
                    let bytes = encoder.take(event)
                    if !bytes.isEmpty { try await writer.write(bytes) }
                }
                try Task.checkCancellation()
            } catch {
                if writer.hasLeft { throw error }
                if Task.isCancelled {
                    guard ending.hasBegun else { throw error }
                    return writer.writeLast(
                        encoder.fail(APIFailure(.failed, "the server stops before the answer is complete")))
                }
                try await writer.write(encoder.fail(APIFailure(error)))
                return
            }
            let end = encoder.end()
            if !end.isEmpty { try await writer.write(end) }
        }
    }
}
