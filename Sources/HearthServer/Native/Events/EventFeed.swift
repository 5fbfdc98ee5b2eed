import Foundation
import HearthBase
import HearthHTTP

/// The stream of events to one client.
struct EventFeed: Sendable {
    let log: EventLog
    let version: String
    let time: TimeSource
    /// Whether the client may read on: a browser that was signed out may not.
    var isOpen: @Sendable () -> Bool = { true }

    /// The reply to a request for events.
    /// - Parameter lastID: the last event that the client has; `nil` for none.
    func reply(after lastID: String?) -> ServerReply {
        .stream("text/event-stream") { try await write(to: $0, after: lastID) }
    }

    private func write(to writer: BodyWriter, after lastID: String?) async throws {
        // Signals begin before the first reading, so that no event falls between.
        let signals = log.signals()
        var (number, beginning) = begin(lastID)
        try await writer.write(Array("retry: 1000\n\n".utf8) + beginning)
        let pings = writer.pinging(time)
        defer { pings.cancel() }
        number = try await send(after: number, to: writer)
        for await _ in signals {
            guard isOpen() else { return }
            number = try await send(after: number, to: writer)
        }
    }

    /// The place where the stream begins, and its first event.
    private func begin(_ lastID: String?) -> (number: Int, bytes: [UInt8]) {
        let last = log.lastID
        let now = log.number(last) ?? 0
        guard let lastID else {
            return (
                now, Self.bytes(last, "hello", JSONValue.object(["version": .string(version)]).bytes)
            )
        }
        guard let number = log.number(lastID) else { return (now, Self.reset(last, "restarted")) }
        return (number, [])
    }

    /// Sends all events after a number.
    /// - Returns: the number of the last that was sent.
    private func send(after number: Int, to writer: BodyWriter) async throws -> Int {
        var number = number
        while true {
            switch log.events(after: number) {
            case .missed(let since):
                number = since
                try await writer.write(Self.reset(log.id(since), "too-old"))
            case .events(let events):
                guard let last = events.last else { return number }
                var bytes: [UInt8] = []
                for event in events { bytes += Self.bytes(log.id(event.number), event.name, event.data) }
                try await writer.write(bytes)
                number = last.number
            }
        }
    }

    private static func reset(_ id: String, _ reason: String) -> [UInt8] {
        bytes(id, "reset", JSONValue.object(["reason": .string(reason)]).bytes)
    }

    /// One event of WHATWG HTML, section 9.2. The data has no line break.
    private static func bytes(_ id: String, _ name: String, _ data: [UInt8]) -> [UInt8] {
        Array("id: \(id)\nevent: \(name)\ndata: ".utf8) + data + Array("\n\n".utf8)
    }
}
