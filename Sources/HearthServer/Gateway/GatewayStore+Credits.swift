import Foundation
import HearthBase
import HearthDatabase

/// One request of a turn. A turn has several when the assistant asks again, with the results of a search.
struct GatewayPass: Sendable, Hashable {
    let id = Claim.newToken()
    /// A digest: the client's text is kept nowhere.
    let turn: SHA256Digest

    /// The end of a pass.
    enum End: String, Sendable, Hashable {
        /// It brought a token: its credit stays spent.
        case settled
        /// The cloud failed: its credit is given back.
        case returned
        /// It brought no token because of the client, who left or sent what the cloud does not answer. Its credit is
        /// given back as often as ``GatewayStore/forgivenLimit`` allows.
        case forgiven
    }

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
/// no pass of it brought a token, but not without end when that is the client's doing: the publisher pays for each
/// question that the cloud reads. No number is kept beside the passes, so that none can differ from them.
extension GatewayStore {
    /// The passes that one turn may have.
    static let passLimit = 20
    /// The passes of a key and month that bring no token because of the client and cost nothing.
    static let forgivenLimit = 10
    /// The states of a pass that costs nothing.
    private static let freeStates = "('returned', 'forgiven')"
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
            let paid = known.first { $0[2].string != "returned" && $0[2].string != "forgiven" }
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

    /// Ends a pass. A pass that brought a token stays settled.
    /// - Returns: the end: `settled` instead of `forgiven` if the key has used up what is forgiven.
    @discardableResult
    func end(_ pass: GatewayPass, _ wanted: GatewayPass.End, of key: GatewayKey) async throws -> GatewayPass.End {
        try await database.transaction { session in
            let id = SQLValue.text(key.id)
            // Locks the key's row until the commit, so that passes that end together are counted one after the other.
            try session.execute("UPDATE gateway_key SET used = used WHERE id = ?1", [id])
            var end = wanted
            if wanted == .forgiven {
                let forgiven = try session.rows(
                    """
                    SELECT count(*) FROM gateway_pass WHERE key_id = ?1 AND state = 'forgiven' AND id <> ?2
                    AND month = (SELECT month FROM gateway_pass WHERE id = ?2)
                    """, [id, .text(pass.id)])
                if (forgiven.first?.first?.integer ?? 0) >= Self.forgivenLimit { end = .settled }
            }
            try session.execute(
                "UPDATE gateway_pass SET state = ?2 WHERE id = ?1\(wanted == .settled ? "" : " AND state = 'open'")",
                [.text(pass.id), .text(end.rawValue)])
            return end
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
            WHERE key_id = ?1 AND month = ?2 AND state NOT IN \(freeStates)
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
