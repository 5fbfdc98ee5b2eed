#if canImport(CPostgres)
import HearthBase

extension HearthError where Domain == DatabaseErrorDomain {
    /// The error for a SQLSTATE of PostgreSQL (its manual, appendix A). The server's words are left out: they may quote a
    /// value.
    /// - Parameter isBroken: whether the connection cannot be used any more.
    init(postgres state: String, isBroken: Bool) {
        let (code, reason, remedy): (ErrorCode<DatabaseErrorDomain>, String, String?) =
            switch state {
            case _ where isBroken || state.isEmpty || state.hasPrefix("08"):
                (.unreachable, "the connection broke", "Check that the server runs; try again later.")
            case "57P01", "57P02", "57P03", "53300":
                (.unreachable, "the server takes no connections now", "Try again later.")
            case "40001", "40P01", "55P03", "57014":
                (.busy, "another transaction is using the same rows", "Try again.")
            case "53100": (.diskFull, "no space is left on the server's disk", "Free some space and try again.")
            case "25006": (.readOnly, "the server accepts no changes", "Give the address of the primary server.")
            case "42501":
                (.readOnly, "the user may not do this", "Give the user rights on the database and its schema public.")
            default: (.failed, "the server refused a statement", nil)
            }
        self.init(
            code, "cannot use the PostgreSQL database: \(reason)",
            context: ErrorContext(found: "SQLSTATE \(state.isEmpty ? "none" : state)", remedy: remedy),
            disposition: code == .unreachable || code == .busy ? .tryLater : .failed)
    }

    /// A server that does not answer.
    static func unreachable(_ reason: String) -> Self {
        Self(
            .unreachable, "cannot reach the PostgreSQL database: \(reason)",
            context: ErrorContext(remedy: "Check that the server runs; try again later."), disposition: .tryLater)
    }

    /// A connection that failed, by libpq's words, which hold the host and the user but no password.
    static func cannotConnect(_ words: String) -> Self {
        let line = words.split(whereSeparator: \.isNewline).joined(separator: "; ")
        // A server that refuses the user or the database will do so again; one that starts or ends will not.
        let refusals = [
            "password authentication failed", "does not exist", "no pg_hba.conf entry", "no password supplied",
        ]
        let isRefusal = refusals.contains { line.contains($0) }
        guard isRefusal else { return unreachable(line.quoted(limit: 300)) }
        return Self(
            .cannotOpen, "PostgreSQL refuses the connection: \(line.quoted(limit: 300))",
            context: ErrorContext(remedy: "Check the user, the password and the database in the address."))
    }

    static var libraryMissing: Self {
        Self(
            .cannotOpen, "PostgreSQL's client library libpq is not installed",
            context: ErrorContext(expected: "libpq.so.5", remedy: "Install it; Debian's package is libpq5."))
    }

    /// The address itself is not shown: it may hold a password.
    static var notAnAddress: Self {
        Self(
            .cannotOpen, "the address of the PostgreSQL database cannot be read",
            context: ErrorContext(expected: "postgresql://user@host/database", remedy: "Correct the address."),
            disposition: .usage)
    }

    static var closed: Self {
        Self(.failed, "cannot use the PostgreSQL database: it is closed")
    }
}
#endif
