import HearthBase

/// One step from a schema to the next. Released steps never change; a new schema is a new step.
package struct Migration: Sendable {
    /// The schema after the step, counted from 1 without gaps.
    package let number: Int
    /// The statements of the step.
    package let script: String

    package init(_ number: Int, _ script: String) {
        self.number = number
        self.script = script
    }
}

extension Connection {
    /// The number of the file's schema (`PRAGMA user_version`); 0 for a new file.
    var schema: Int {
        get throws { try first("PRAGMA user_version") { $0.int(0) } ?? 0 }
    }

    /// Brings the schema to the last step, each step in one transaction: a kill leaves the old schema or the new one.
    /// - Throws: `database-newer` if the file has a later schema, and the errors of the steps.
    func migrate(_ migrations: [Migration], path: Path?) throws {
        let last = migrations.last?.number ?? 0
        for migration in migrations where try schema < migration.number {
            try transaction("BEGIN IMMEDIATE") {
                // Another process may have made the step since.
                guard try schema < migration.number else { return }
                try runScript(migration.script)
                // A pragma takes no parameters; the number is a constant of this package.
                try runScript("PRAGMA user_version = \(migration.number)")
            }
        }
        let found = try schema
        guard found <= last else {
            throw DatabaseError.newer(DatabaseError.name(of: path), found: found, known: last, file: path)
        }
    }

    /// Runs a body in a transaction, which is rolled back if the body throws.
    func transaction<Value>(_ begin: String, _ body: () throws -> Value) throws -> Value {
        try run(begin)
        do {
            let value = try body()
            try run("COMMIT")
            return value
        } catch {
            // After some failures, such as a full disk, SQLite has rolled back already. The caller gets the first error.
            if isInTransaction { try? run("ROLLBACK") }
            throw error
        }
    }
}
