import Foundation
import HearthBase
import HearthDatabase

/// A request of the native API that is refused or has failed.
package struct NativeFailure: Error, Sendable, Hashable {
    package var status: Int
    /// The stable code.
    package var code: String
    /// One sentence.
    package var message: String
    /// What to do next.
    package var remedy: String?
    /// The field of the request.
    package var field: String?
    /// The models that the user can choose from, if the request waits for that.
    var models: [ModelChoice]?

    init(
        _ status: Int, _ code: String, _ message: String, remedy: String? = nil, field: String? = nil,
        models: [ModelChoice]? = nil
    ) {
        self.models = models
        self.status = status
        self.code = code
        self.message = message
        self.remedy = remedy
        self.field = field
    }

    /// A field of a request that cannot be used.
    static func bad(_ field: String, _ expectation: String) -> Self {
        Self(400, "bad-request", "`\(field)` must be \(expectation)", field: field)
    }

    static func missing(_ thing: String) -> Self { Self(404, "not-found", "there is no \(thing)") }

    /// The failure of an error that the work for a request threw.
    init(_ error: any Error) {
        switch error {
        case let failure as NativeFailure: self = failure
        case let error as ServerError where error.code == .bodyTooLarge:
            self.init(413, error.codeText, error.message, remedy: error.context.remedy)
        case let error as any HearthFailure:
            self.init(
                Self.status(of: error), error.codeText, error.message, remedy: error.context.remedy,
                field: error.context.field)
        case is CancellationError: self.init(503, "ending", "the server ended the work before it was complete")
        default:
            Log.write(.error, "native", "a request failed", [.error(error)])
            self.init(500, "failed", "the server failed; its log has the reason")
        }
    }

    private static let missingCodes: Set<String> = [
        "no-such-record", "model-not-found", "not-installed", "unknown-transfer", "unknown-key", "no-such-message",
    ]

    private static func status(of error: any HearthFailure) -> Int {
        if missingCodes.contains(error.codeText) { return 404 }
        if error.codeText == "large-document" { return 413 }
        if ConflictCodes.all.contains(error.codeText) { return 409 }
        return error is FileError || error is DatabaseError ? 500 : 422
    }

    /// The reply.
    var reply: ServerReply {
        var error: JSONMembers = ["code": .string(code), "message": .string(message)]
        error["remedy"] = remedy.map { .string($0) }
        error["field"] = field.map { .string($0) }
        error["models"] = models.map { models in
            .array(models.map { ["id": .string($0.id), "name": .string($0.name)] })
        }
        return .json(.object(["error": .object(error)]), status: status)
    }
}

extension NativeFailure {
    /// The failure of a body that is not what its route takes.
    init(_ error: DecodingError) {
        switch error {
        case .typeMismatch(let type, let context), .valueNotFound(let type, let context):
            self = .bad(Self.path(context.codingPath), Self.words(type))
        case .keyNotFound(let key, let context):
            self = .bad(Self.path(context.codingPath + [key]), "present")
        case .dataCorrupted(let context) where !context.codingPath.isEmpty:
            self = .bad(Self.path(context.codingPath), "a value that is described in openapi.json")
        default: self.init(400, "bad-request", "the body is not JSON")
        }
    }

    private static func path(_ keys: [any CodingKey]) -> String {
        let path = keys.map { $0.intValue.map { "[\($0)]" } ?? $0.stringValue }.joined(separator: ".")
        return path.isEmpty ? "body" : path.replacingOccurrences(of: ".[", with: "[")
    }

    private static func words(_ type: Any.Type) -> String {
        switch type {
        case is String.Type: "a text"
        case is Bool.Type: "true or false"
        case is Int.Type: "a whole number"
        case is Double.Type: "a number"
        case is Date.Type: "a time such as 2026-11-24T09:30:00.000Z"
        case is [Any].Type, is any Sequence.Type: "a list"
        default: "an object"
        }
    }
}
