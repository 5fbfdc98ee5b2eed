import Foundation
import HearthBase
import HearthDatabase
import HearthRouting

/// The records of a gateway: keys as digests, the addresses of a day, and the turns of a month.
///
/// ```
/// gateway_key    id, name, digest, scopes, tier, credits, addresses, created, expires, revoked, used
/// gateway_day    key_id, day since 1970, addresses given
/// gateway_pass   id, key_id, digest of the turn, month, state: open, or a GatewayPass.End, begun
/// ```
/// On SQLite or PostgreSQL. Several gateways may share one PostgreSQL database.
package struct GatewayStore: Sendable {
    let database: any SQLDatabase

    /// The steps of the schema, for both databases. Times are seconds since 1970.
    package static let migrations = [
        Migration(
            1,
            """
            CREATE TABLE gateway_key(
                id TEXT PRIMARY KEY, name TEXT NOT NULL, digest TEXT NOT NULL UNIQUE, scopes TEXT NOT NULL,
                tier TEXT NOT NULL, credits BIGINT, addresses BIGINT, created BIGINT NOT NULL, expires BIGINT,
                revoked BIGINT, used BIGINT);
            CREATE TABLE gateway_day(
                key_id TEXT NOT NULL REFERENCES gateway_key(id), day BIGINT NOT NULL, addresses BIGINT NOT NULL,
                PRIMARY KEY(key_id, day));
            CREATE TABLE gateway_pass(
                id TEXT PRIMARY KEY, key_id TEXT NOT NULL REFERENCES gateway_key(id), turn TEXT NOT NULL,
                month BIGINT NOT NULL, state TEXT NOT NULL, begun BIGINT NOT NULL);
            CREATE INDEX gateway_pass_month ON gateway_pass(key_id, month);
            CREATE INDEX gateway_pass_turn ON gateway_pass(key_id, turn);
            """)
    ]

    /// The records in an open database, whose schema is that of ``migrations``.
    package init(_ database: any SQLDatabase) { self.database = database }

    /// Opens the records.
    /// - Parameters:
    ///   - address: PostgreSQL's address; `nil` for a SQLite file.
    ///   - file: the SQLite file.
    /// - Throws: `DatabaseError`.
    package static func open(
        _ address: String?, file: Path, time: TimeSource = .system
    ) async throws -> GatewayStore {
        guard let address else { return GatewayStore(try await Database(path: file, migrations: migrations)) }
        return GatewayStore(try await PostgresDatabase(address, migrations: migrations, time: time))
    }

    package func close() async { await database.close() }

    /// Whether the database answers.
    func check() async throws { try await database.transaction { try $0.execute("SELECT 1") } }

    // MARK: Keys

    private static let columns = "id, name, scopes, tier, credits, addresses, created, expires, revoked"

    /// Adds a key.
    /// - Parameter draft: the rights; its id is replaced.
    /// - Returns: the key with its secret, which is not kept.
    package func create(_ draft: GatewayKey) async throws -> String {
        let secret = KeySecret()
        let scopes = draft.scopes.map(\.rawValue).sorted().joined(separator: ",")
        let values: [SQLValue] = [
            .text(secret.id), .text(draft.name), .text(secret.digest.hex), .text(scopes), .text(draft.tier.name),
            draft.credits.map { SQLValue.int($0) } ?? .null,
            draft.addressesPerDay.map { SQLValue.int($0) } ?? .null,
            .int(draft.created.wholeSeconds), draft.expires.map { SQLValue.int($0.wholeSeconds) } ?? .null,
        ]
        try await database.transaction { session in
            // The same statement again, after a connection that broke at the commit, adds no second key.
            try session.execute(
                """
                INSERT INTO gateway_key(id, name, digest, scopes, tier, credits, addresses, created, expires)
                VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9) ON CONFLICT(id) DO NOTHING
                """, values)
        }
        return secret.text
    }

    /// All keys, the oldest first.
    package func keys() async throws -> [GatewayKey] {
        try await database.transaction { session in
            try session.rows("SELECT \(Self.columns) FROM gateway_key ORDER BY created, id", [])
                .compactMap(GatewayKey.init(row:))
        }
    }

    /// Ends a key. A second call keeps the first date.
    /// - Throws: ``ServerError`` with `unknown-key`; `DatabaseError`.
    package func revoke(_ id: String, at date: Date) async throws {
        let found = try await database.transaction { session -> Bool in
            try session.execute(
                "UPDATE gateway_key SET revoked = ?2 WHERE id = ?1 AND revoked IS NULL",
                [.text(id), .int(date.wholeSeconds)])
            return try !session.rows("SELECT id FROM gateway_key WHERE id = ?1", [.text(id)]).isEmpty
        }
        guard found else {
            throw ServerError(
                .unknownKey, "there is no key \(id.quoted)",
                context: ErrorContext(found: id, remedy: "List the keys for their ids."))
        }
    }

    /// The key that a client presents; `nil` if there is none.
    func key(_ text: String) async throws -> GatewayKey? {
        // Other texts cost no search.
        guard KeySecret.hasForm(text) else { return nil }
        let digest = KeySecret.digest(of: text).hex
        return try await database.transaction { session in
            try session.rows("SELECT \(Self.columns) FROM gateway_key WHERE digest = ?1", [.text(digest)])
                .first.flatMap(GatewayKey.init(row:))
        }
    }

    // MARK: Addresses

    /// Counts one address of today.
    /// - Returns: whether the key's quota allows it.
    func countAddress(_ key: GatewayKey, at now: Date) async throws -> Bool {
        guard let quota = key.addressesPerDay else { return true }
        guard quota > 0 else { return false }
        let values: [SQLValue] = [.text(key.id), .int(now.wholeSeconds / 86_400), .int(quota)]
        return try await database.transaction { session -> Bool in
            // One statement: two gateways never give the last address twice.
            let counted = try session.rows(
                """
                INSERT INTO gateway_day(key_id, day, addresses) VALUES(?1, ?2, 1)
                ON CONFLICT(key_id, day) DO UPDATE SET addresses = gateway_day.addresses + 1
                WHERE gateway_day.addresses < ?3 RETURNING addresses
                """, values)
            try session.execute(
                "DELETE FROM gateway_day WHERE key_id = ?1 AND day < ?2", Array(values.prefix(2)))
            return !counted.isEmpty
        }
    }
}

extension GatewayKey {
    /// The key in a row of ``GatewayStore``; `nil` for one that this version cannot read.
    fileprivate init?(row: [SQLValue]) {
        guard row.count == 9, let id = row[0].string, let name = row[1].string, let scopes = row[2].string,
            let tier = Tier.all.first(where: { $0.name == row[3].string }), let created = row[6].integer
        else { return nil }
        func date(_ value: SQLValue) -> Date? {
            value.integer.map { Date(timeIntervalSince1970: TimeInterval($0)) }
        }
        self.init(
            id: id, name: name,
            scopes: Set(scopes.split(separator: ",").compactMap { GatewayScope(rawValue: String($0)) }), tier: tier,
            credits: row[4].integer, addressesPerDay: row[5].integer,
            created: Date(timeIntervalSince1970: TimeInterval(created)), expires: date(row[7]),
            revoked: date(row[8]))
    }
}

extension Date {
    /// The whole seconds since 1970.
    var wholeSeconds: Int { Int(timeIntervalSince1970.rounded(.down)) }
}
