import HearthBase
import HearthHTTP

/// Finds the route of a request by its method and path.
struct NativeRouter: Sendable {
    /// The beginning of the addresses of the page's API.
    static let base = "/hearth/v1"

    let routes: [NativeRoute]
    /// The beginning of the addresses of these routes.
    private let beginning: String
    private let patterns: [(parts: [Substring], route: NativeRoute)]

    init(_ routes: [NativeRoute], base: String = Self.base) {
        self.routes = routes
        beginning = base
        patterns = routes.map { ($0.path.split(separator: "/"), $0) }
    }

    /// A route with the values of the path, or the methods that the path takes.
    enum Match: Sendable {
        case route(NativeRoute, path: [String: String])
        case otherMethod([String])
        case none
    }

    func match(_ method: String, _ path: String) -> Match {
        guard path.hasPrefix(beginning + "/") else { return .none }
        let parts = path.dropFirst(beginning.count).split(separator: "/", omittingEmptySubsequences: false)
            .dropFirst()
        var methods: [String] = []
        for (pattern, route) in patterns {
            guard let values = Self.values(pattern, parts) else { continue }
            if route.method == (method == "HEAD" ? "GET" : method) { return .route(route, path: values) }
            methods.append(route.method)
        }
        return methods.isEmpty ? .none : .otherMethod(methods)
    }

    /// The values of a path that fits a pattern.
    private static func values(_ pattern: [Substring], _ parts: ArraySlice<Substring>) -> [String: String]? {
        guard pattern.count == parts.count else { return nil }
        var values: [String: String] = [:]
        for (pattern, part) in zip(pattern, parts) {
            if pattern.hasPrefix("{") {
                guard !part.isEmpty, part.utf8.count <= 512 else { return nil }
                values[String(pattern.dropFirst().dropLast())] = String(part)
            } else if pattern != part {
                return nil
            }
        }
        return values
    }

    /// The reply to a request; `nil` for a path that no route has.
    func reply(to request: ServerRequest) async -> ServerReply? {
        switch match(request.method, request.target.path) {
        case .none: return nil
        case .otherMethod(let methods):
            var reply = NativeFailure(405, "method", "this path takes \(methods.joined(separator: ", "))").reply
            reply.headers.append("Allow", methods.joined(separator: ", "))
            return reply
        case .route(let route, let path):
            do {
                return try await route.answer(NativeCall(request: request, path: path))
            } catch {
                return NativeFailure(error).reply
            }
        }
    }
}
