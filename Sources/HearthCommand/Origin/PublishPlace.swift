import Foundation
import HearthBase
import HearthCatalog
import HearthHTTP
import HearthPublishing

extension PublishPlace {
    /// Finds the folder, or the bucket and its key.
    func open(_ context: CommandContext) async throws -> Opened {
        try await open(
            environment: context.environment, client: DefaultHTTPClient(version: HearthCommand.version),
            time: context.time)
    }
}

extension ValueKind where Value == PublishPlace {
    /// A folder, or REMOTE:bucket/path.
    static var place: Self { ValueKind("a text that is not empty") { $0.isEmpty ? nil : PublishPlace(text: $0) } }
}

extension Option where Value == PublishPlace {
    /// The origin that a command changes.
    static var place: Self {
        Option(
            "to", "ORIGIN", .place, required: "FOLDER or REMOTE:bucket",
            "A folder, made when missing; or REMOTE:bucket/path, with a remote of rclone's configuration. Required.")
    }
}
