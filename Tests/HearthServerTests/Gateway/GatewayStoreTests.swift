import Foundation
import HearthBase
import HearthDatabase
import HearthRouting
import HearthTestSupport
import Testing

@testable import HearthServer

/// The records of a gateway, on both databases.
@Suite(.timeLimit(.minutes(2)))
struct GatewayStoreTests {
    private static let start = Date(timeIntervalSince1970: 1_800_000_000)

    private static func draft(
        credits: Int? = nil, addresses: Int? = nil, expires: Date? = nil
    ) -> GatewayKey {
        GatewayKey(
            id: "", name: "Anna's phone ☎", scopes: [.chat, .download], tier: .pro, credits: credits,
            addressesPerDay: addresses, created: start, expires: expires)
    }

    private static func made(_ store: GatewayStore, _ draft: GatewayKey) async throws -> GatewayKey {
        try required(try await store.key(try await store.create(draft)))
    }

    @Test(arguments: GatewayDatabase.available)
    func keysAreFoundByTheirTextAlone(_ kind: GatewayDatabase) async throws {
        try await kind.with { store in
            let expires = Self.start.addingTimeInterval(60)
            let text = try await store.create(Self.draft(credits: 7, addresses: 9, expires: expires))
            _ = try await store.create(Self.draft())
            var expected = Self.draft(credits: 7, addresses: 9, expires: expires)
            expected.id = String(text.split(separator: "-")[1])
            #expect(try await store.key(text) == expected)
            #expect(Set(try await store.keys().map(\.name)) == ["Anna's phone ☎"])
            #expect(try await store.keys().count == 2)
            let hostile = [
                "", "hearth-", String(text.dropLast()), text + "0", String(text.dropLast()) + "g",
                text.uppercased(),
                String(repeating: "x", count: text.utf8.count), "' OR 1=1 --", "hearth-\u{0}",
            ]
            for other in hostile { #expect(try await store.key(other) == nil, "\(other)") }
            let rows = try await store.database.transaction { try $0.rows("SELECT * FROM gateway_key", []) }
            #expect(!"\(rows)".contains(text.suffix(64)))

            try await store.revoke(expected.id, at: Self.start)
            try await store.revoke(expected.id, at: Self.start.addingTimeInterval(9))
            #expect(try await store.key(text)?.revoked == Self.start)
            let error = await #expect(throws: ServerError.self) { try await store.revoke("absent", at: Self.start) }
            #expect(error?.code == .unknownKey)
        }
    }

    @Test(arguments: GatewayDatabase.available)
    func theAddressesOfADayAreCounted(_ kind: GatewayDatabase) async throws {
        try await kind.with { store in
            let key = try await Self.made(store, Self.draft(addresses: 10))
            let given = try await withThrowingTaskGroup(of: Bool.self) { group in
                for _ in 0..<40 { group.addTask { try await store.countAddress(key, at: Self.start) } }
                return try await group.reduce(into: 0) { $0 += $1 ? 1 : 0 }
            }
            #expect(given == 10)
            #expect(try await store.countAddress(key, at: Self.start.addingTimeInterval(86_400)))
            let free = try await Self.made(store, Self.draft())
            #expect(try await store.countAddress(free, at: Self.start))
            #expect(
                try await !store.countAddress(try await Self.made(store, Self.draft(addresses: 0)), at: Self.start))
        }
    }

    @Test(arguments: GatewayDatabase.available)
    func aTurnCostsOnce(_ kind: GatewayDatabase) async throws {
        try await kind.with { store in
            let key = try await Self.made(store, Self.draft(credits: 2))
            func take(_ turn: String?, _ seconds: TimeInterval = 0) async throws -> GatewayTaking {
                let pass = GatewayPass(turn: turn)
                let taking = try await store.take(pass, of: key, at: Self.start.addingTimeInterval(seconds))
                if case .taken = taking { try await store.end(pass, .settled, of: key) }
                return taking
            }
            #expect(try await take("one") == .taken(left: 1))
            #expect(try await take("one") == .taken(left: 1))
            #expect(try await take("two") == .taken(left: 0))
            #expect(try await take("three") == .noCredits)
            #expect(try await take("one") == .taken(left: 0), "paid for")
            #expect(try await take(nil) == .noCredits, "a turn of its own")
            // The next month; a turn that goes on there was paid for in the last one.
            let month: TimeInterval = 31 * 86_400
            #expect(try await take("two", month) == .taken(left: 2))
            #expect(try await take("four", month) == .taken(left: 1))
            #expect(try await store.creditsLeft(of: key, at: Self.start.addingTimeInterval(month)) == 1)
            let other = try await Self.made(store, Self.draft(credits: 1))
            #expect(try await store.take(GatewayPass(turn: "one"), of: other, at: Self.start) == .taken(left: 0))
        }
    }

    @Test(arguments: GatewayDatabase.available)
    func aTurnWithoutATokenCostsNothing(_ kind: GatewayDatabase) async throws {
        try await kind.with { store in
            let key = try await Self.made(store, Self.draft(credits: 3))
            func left(_ seconds: TimeInterval = 0) async throws -> Int? {
                try await store.creditsLeft(of: key, at: Self.start.addingTimeInterval(seconds))
            }
            let (first, second, third) = (GatewayPass(turn: "a"), GatewayPass(turn: "a"), GatewayPass(turn: "b"))
            for pass in [first, second, third] { _ = try await store.take(pass, of: key, at: Self.start) }
            #expect(try await left() == 1)
            try await store.end(first, .returned, of: key)
            #expect(try await left() == 1, "the second pass of the turn is still open")
            try await store.end(second, .returned, of: key)
            try await store.end(second, .returned, of: key)
            #expect(try await left() == 2)
            try await store.end(third, .settled, of: key)
            try await store.end(third, .returned, of: key)
            #expect(try await left() == 2, "a settled pass stays")
            // A gateway that ended left its pass open.
            let lost = GatewayPass(turn: "c")
            _ = try await store.take(lost, of: key, at: Self.start)
            #expect(try await left() == 1)
            let later: TimeInterval = 601
            let next = GatewayPass(turn: "d")
            #expect(
                try await store.take(next, of: key, at: Self.start.addingTimeInterval(later)) == .taken(left: 1))
            // It was not lost after all.
            try await store.end(lost, .settled, of: key)
            #expect(try await left(later) == 0)
        }
    }

    /// Whoever leaves before the first token pays from the eleventh time on, and again nothing in the next month.
    @Test(arguments: GatewayDatabase.available)
    func leavingIsNotFreeWithoutEnd(_ kind: GatewayDatabase) async throws {
        try await kind.with { store in
            let key = try await Self.made(store, Self.draft(credits: 5))
            let other = try await Self.made(store, Self.draft(credits: 5))
            func leave(_ days: TimeInterval = 0) async throws -> GatewayPass.End? {
                let pass = GatewayPass(turn: nil)
                let taking = try await store.take(pass, of: key, at: Self.start.addingTimeInterval(days * 86_400))
                guard case .taken = taking else { return nil }
                return try await store.end(pass, .forgiven, of: key)
            }
            for _ in 0..<GatewayStore.forgivenLimit { #expect(try await leave() == .forgiven) }
            #expect(try await store.creditsLeft(of: key, at: Self.start) == 5)
            for _ in 0..<5 { #expect(try await leave() == .settled) }
            #expect(try await leave() == nil, "no credit is left")
            #expect(try await store.creditsLeft(of: other, at: Self.start) == 5)
            #expect(try await leave(31) == .forgiven)
            // Failures of the cloud are not counted.
            let failed = GatewayPass(turn: nil)
            _ = try await store.take(failed, of: other, at: Self.start)
            #expect(try await store.end(failed, .returned, of: other) == .returned)
        }
    }

    @Test(arguments: GatewayDatabase.available)
    func noCreditIsSpentTwice(_ kind: GatewayDatabase) async throws {
        try await kind.with { store in
            let key = try await Self.made(store, Self.draft(credits: 30))
            let takings = try await withThrowingTaskGroup(of: GatewayTaking.self) { group in
                for index in 0..<100 {
                    group.addTask {
                        try await store.take(GatewayPass(turn: "turn \(index)"), of: key, at: Self.start)
                    }
                }
                return try await group.reduce(into: [GatewayTaking: Int]()) { $0[$1, default: 0] += 1 }
            }
            #expect(takings[.noCredits] == 70)
            #expect((0..<30).allSatisfy { takings[.taken(left: $0)] == 1 })

            let other = try await Self.made(store, Self.draft(credits: 5))
            let same = try await withThrowingTaskGroup(of: GatewayTaking.self) { group in
                for _ in 0..<60 {
                    group.addTask { try await store.take(GatewayPass(turn: "same"), of: other, at: Self.start) }
                }
                return try await group.reduce(into: [GatewayTaking: Int]()) { $0[$1, default: 0] += 1 }
            }
            #expect(same == [.taken(left: 4): GatewayStore.passLimit, .exhausted: 60 - GatewayStore.passLimit])
            #expect(try await store.creditsLeft(of: other, at: Self.start) == 4)
        }
    }

    /// The connection broke at the commit, and the transaction ran again.
    @Test(arguments: GatewayDatabase.available)
    func aPassThatIsTakenAgainCostsOnce(_ kind: GatewayDatabase) async throws {
        try await kind.with { store in
            let key = try await Self.made(store, Self.draft(credits: 1))
            let pass = GatewayPass(turn: "one")
            #expect(try await store.take(pass, of: key, at: Self.start) == .taken(left: 0))
            #expect(try await store.take(pass, of: key, at: Self.start) == .taken(left: 0))
            try await store.end(pass, .returned, of: key)
            #expect(try await store.creditsLeft(of: key, at: Self.start) == 1)
        }
    }

    @Test(
        arguments: [
            ("2026-12-31T23:59:59Z", 2026 * 12 + 11), ("2027-01-01T00:00:00Z", 2027 * 12),
            ("1970-01-01T00:00:00Z", 1970 * 12),
        ])
    func monthsAreThoseOfUTC(text: String, month: Int) throws {
        #expect(GatewayStore.month(of: try Date.ISO8601FormatStyle().parse(text)) == month)
    }
}
