import Foundation
import HearthBase
import HearthDatabase

/// One request of a turn. A turn has several when the assistant asks again, with the results of a search.
struct GatewayPass: Sendable, Hashable {
    let id = Claim.newToken()
    /// A digest: the client's text is kept nowhere.
    let turn: SHA256Digest

    /// The pass of a turn that a client names; without a name, each request is a turn.
    init(turn name: String?) {
        turn = SHA256Digest(hashing: Data((name ?? Claim.newToken()).utf8))
    }
}

/// The answer to a pass that wants to begin.
enum GatewayTaking: Sendable, Hashable {
    /// It may begin; so many credits are left after it, `nil` if they are not counted.
    case taken(left: Int?)
    case noCredits
    /// The turn has as many passes as one may have.
    case exhausted
}

/// The credits of a key: the turns of its month that were not given back.
///
/// A turn costs one credit in the month of its first pass, however many passes it has. Its credit is given back when
/// no pass of it brought a token. No number is kept beside the passes, so that none can differ from them.
extension GatewayStore {
    /// The passes that one turn may have.
    static let passLimit = 20
    /// The age at which an open pass belongs to a gateway that has ended, in seconds. Longer than any answer.
    static let openLifetime = 600

    /// Takes the credit of a pass, unless its turn has been paid for.
    func take(_ pass: GatewayPass, of key: GatewayKey, at now: Date) async throws -> GatewayTaking {
        guard let credits = key.credits else { return .taken(left: nil) }
        let (seconds, month) = (now.wholeSeconds, Self.month(of: now))
        return try await database.transaction { session -> GatewayTaking in
            let id = SQLValue.text(key.id)
            // Locks the key's row until the commit: two gateways never spend the same credit.
            try session.execute("UPDATE gateway_key SET used = ?2 WHERE id = ?1", [id, .int(seconds)])
            try session.execute(
                "UPDATE gateway_pass SET state = 'returned' WHERE key_id = ?1 AND state = 'open' AND begun < ?2",
                [id, .int(seconds - Self.openLifetime)])
            try session.execute(
                "DELETE FROM gateway_pass WHERE key_id = ?1 AND month < ?2", [id, .int(month - 1)])
            let known = try session.rows(
                "SELECT id, month, state FROM gateway_pass WHERE key_id = ?1 AND turn = ?2",
                [id, .text(pass.turn.hex)])
            let spent = try Self.spent(session, id, month)
            // The first run was committed before its connection broke.
            if known.contains(where: { $0[0].string == pass.id }) { return .taken(left: max(0, credits - spent)) }
            guard known.count < Self.passLimit else { return .exhausted }
            let paid = known.first { $0[2].string != "returned" }
            guard paid != nil || spent < credits else { return .noCredits }
            try session.execute(
                """
                INSERT INTO gateway_pass(id, key_id, turn, month, state, begun) VALUES(?1, ?2, ?3, ?4, 'open', ?5)
                """,
                [
                    .text(pass.id), id, .text(pass.turn.hex), .int(paid?[1].integer ?? month), .int(seconds),
                ])
            return .taken(left: max(0, credits - spent - (paid == nil ? 1 : 0)))
        }
    }

    /// Notes that a pass brought a token: its credit stays spent.
    func settle(_ pass: GatewayPass) async throws {
        try await database.transaction { session in
            try session.execute("UPDATE gateway_pass SET state = 'settled' WHERE id = ?1", [.text(pass.id)])
        }
    }

    /// Gives the credit of a pass back, unless it brought a token.
    func giveBack(_ pass: GatewayPass) async throws {
        try await database.transaction { session in
            try session.execute(
                "UPDATE gateway_pass SET state = 'returned' WHERE id = ?1 AND state = 'open'", [.text(pass.id)])
        }
    }

    /// The credits left this month; `nil` if they are not counted.
    package func creditsLeft(of key: GatewayKey, at now: Date) async throws -> Int? {
        guard let credits = key.credits else { return nil }
        let month = Self.month(of: now)
        return try await database.transaction { session in
            let spent = try Self.spent(session, .text(key.id), month)
            return max(0, credits - spent)
        }
    }

    private static func spent(_ session: any SQLSession, _ key: SQLValue, _ month: Int) throws -> Int {
        let rows = try session.rows(
            """
            SELECT count(DISTINCT turn) FROM gateway_pass
            WHERE key_id = ?1 AND month = ?2 AND state <> 'returned'
            """, [key, .int(month)])
        return rows.first?.first?.integer ?? 0
    }

    /// The months since year 0, in UTC.
    static func month(of date: Date) -> Int {
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = .gmt
        let parts = calendar.dateComponents([.year, .month], from: date)
        return (parts.year ?? 0) * 12 + (parts.month ?? 1) - 1
    }
}
