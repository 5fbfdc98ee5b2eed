import Foundation
import HearthBase

@testable import HearthApple

/// A calendar database in memory that keeps events as EventKit does.
final class FakeEvents: EventDatabase {
    private struct Values {
        var events: [String: SystemEvent] = [:]
        var lists = [
            SystemList(identifier: "home", title: "Home"),
            SystemList(identifier: "team", title: "Team", isSubscribed: true, isWritable: false),
        ]
        var generation = 0
        var count = 0
        var windows: [Double] = []
        var failure: (any Error)?
    }

    private let values = Locked(Values())
    private let permission: Permission

    init(_ permission: Permission) { self.permission = permission }

    var generation: Int { values.withLock { $0.generation } }
    var all: [SystemEvent] {
        values.withLock { values in values.events.values.sorted { $0.identifier < $1.identifier } }
    }
    /// The lengths of the periods that were asked for, in days.
    var windows: [Double] { values.withLock { $0.windows } }

    func fail(_ error: any Error) { values.withLock { $0.failure = error } }

    /// Another program adds or changes an event.
    func change(_ event: SystemEvent) {
        values.withLock { values in
            values.events[event.identifier] = event
            values.generation += 1
        }
    }

    func event(_ identifier: String) async throws -> SystemEvent? {
        permission.state == .writeOnly ? nil : values.withLock { values in values.events[identifier].map(Self.known) }
    }

    func events(from: Date, until: Date) async throws -> [SystemEvent] {
        let failure = values.withLock { values in
            values.windows.append(until.timeIntervalSince(from) / 86_400)
            return values.failure
        }
        if let failure { throw failure }
        guard permission.state.mayRead else { return [] }
        return values.withLock { values in
            values.events.values.filter { $0.start < until && $0.end > from }.map(Self.known)
        }
    }

    /// An app that may read sees the calendar of every event.
    private static func known(_ event: SystemEvent) -> SystemEvent {
        var event = event
        event.list = event.list ?? SystemList(identifier: "home", title: "Home")
        return event
    }

    func list(_ identifier: String) async throws -> SystemList? {
        values.withLock { $0.lists.first { $0.identifier == identifier } }
    }

    func standardList() async throws -> SystemList? {
        permission.state == .writeOnly
            ? SystemList(identifier: "virtual", title: "Calendar") : values.withLock { $0.lists[0] }
    }

    func save(_ event: SystemEvent) async throws -> String {
        let isWriteOnly = permission.state == .writeOnly
        return try values.withLock { values in
            if let failure = values.failure as? SystemStoreError { throw failure }
            var event = event
            if event.identifier.isEmpty {
                values.count += 1
                event.identifier = "ek-\(values.count)"
            }
            // The event lies in the default calendar, and has none for an app that may not read.
            if isWriteOnly { event.list = nil }
            (event.start, event.end) = (event.start.wholeSecond, event.end.wholeSecond)
            values.events[event.identifier] = event
            values.generation += 1
            return event.identifier
        }
    }

    func remove(_ identifier: String) async throws {
        values.withLock { values in
            values.events[identifier] = nil
            values.generation += 1
        }
    }
}
