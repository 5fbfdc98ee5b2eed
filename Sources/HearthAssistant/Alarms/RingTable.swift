import HearthBase
import HearthDatabase

/// What has rung, in the assistant's database, so that no alarm rings twice.
struct RingTable: Sendable {
    let database: Database

    /// What is kept: the rings, and the time until which all alarms were looked at.
    struct Kept: Sendable, Hashable {
        var rings: [String: KeptRing] = [:]
        /// Seconds since 1970; `nil` before the first look.
        var looked: Int?
    }

    func kept() async throws -> Kept {
        try await database.read { connection in
            var kept = Kept()
            try connection.forEachRow("SELECT id, moment, late, state, again FROM ring") { row in
                let state: KeptRing.Stage =
                    switch row.text(3) {
                    case "open": .open
                    case "snoozed": .snoozed(until: row.int(4))
                    default: .ended
                    }
                kept.rings[row.text(0)] = KeptRing(stage: state, moment: row.int(1), isLate: row.int(2) != 0)
            }
            kept.looked = try connection.first("SELECT looked FROM ring_look") { $0.int(0) }
            return kept
        }
    }

    /// Writes rings, and forgets those of alarms that no look reaches any more.
    func save(_ rings: [String: KeptRing], forgetting old: [String] = [], looked: Int?) async throws {
        guard !rings.isEmpty || !old.isEmpty || looked != nil else { return }
        try await database.write { connection in
            for (id, ring) in rings {
                var again = SQLValue.null
                let state: String
                switch ring.stage {
                case .open: state = "open"
                case .snoozed(let until): (state, again) = ("snoozed", .int(until))
                case .ended: state = "ended"
                }
                try connection.run(
                    "INSERT OR REPLACE INTO ring(id, moment, late, state, again) VALUES (?1, ?2, ?3, ?4, ?5)",
                    [.text(id), .int(ring.moment), .int(ring.isLate ? 1 : 0), .text(state), again])
            }
            for id in old { try connection.run("DELETE FROM ring WHERE id = ?1", [.text(id)]) }
            if let looked {
                try connection.run("INSERT OR REPLACE INTO ring_look(one, looked) VALUES (1, ?1)", [.int(looked)])
            }
        }
    }
}
