import HearthBase

/// What the description of the API says about a route of a dialect.
struct RouteDescription: Sendable {
    /// The body that a route takes.
    struct Input: Sendable {
        /// Bodies, JSON; the first one has only what is required. Together they have all objects that the reader knows.
        let examples: [String]
        /// Reads the fields of a body.
        let read: @Sendable (Fields, APIService) throws -> Void
    }

    /// The reply of a route that succeeds.
    struct Reply: Sendable {
        /// The form of its JSON; `nil` for an empty body.
        var form: JSONForm?
        /// The media type of the same reply in pieces; `nil` if there is none.
        var stream: String?
        /// Whether the route only refuses.
        var isRefusal = false

        static let empty = Reply()
        static let refusal = Reply(isRefusal: true)

        /// - Parameter stream: the media type of the same reply in pieces.
        static func json(_ form: JSONForm, stream: String? = nil) -> Reply { Reply(form: form, stream: stream) }
    }

    let summary: String
    let reply: Reply
    var input: Input?
    /// What the end of the path is, such as `model`, for a path that ends with any name.
    var name: String?
    var query: [(name: String, meaning: String)] = []
}

extension APIRoutes.Route {
    /// A route without a body.
    static func plain(
        _ dialect: APIRoutes.Dialect, _ summary: String, name: String? = nil,
        query: [(name: String, meaning: String)] = [], reply: RouteDescription.Reply,
        _ work: @escaping @Sendable (APIRoutes.Call) async throws -> ServerReply
    ) -> Self {
        let description = RouteDescription(summary: summary, reply: reply, name: name, query: query)
        return Self(dialect: dialect, description: description, answer: work)
    }

    /// A route with a body.
    /// - Parameters:
    ///   - examples: bodies, of which the description is made and which a test sends.
    ///   - read: reads a body.
    static func body<Form: Sendable>(
        _ dialect: APIRoutes.Dialect, _ summary: String, scope: ServerScope = .chat, examples: [String],
        reply: RouteDescription.Reply, read: @escaping @Sendable (Fields, APIService) throws -> Form,
        _ work: @escaping @Sendable (Form, APIRoutes.Call) async throws -> ServerReply
    ) -> Self {
        let input = RouteDescription.Input(examples: examples) { _ = try read($0, $1) }
        let description = RouteDescription(summary: summary, reply: reply, input: input)
        return Self(dialect: dialect, scope: scope, description: description) { call in
            try await work(try read(try await call.fields(), call.service), call)
        }
    }

    /// A known path that is not served.
    static func unserved(
        _ dialect: APIRoutes.Dialect, _ message: String, scope: ServerScope = .chat
    ) -> Self {
        let description = RouteDescription(summary: "Not served", reply: .refusal)
        return Self(dialect: dialect, scope: scope, description: description) { _ in
            throw APIFailure(.notFound, message)
        }
    }
}
