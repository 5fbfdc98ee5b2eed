import HearthBase

/// Applies the changes of actions to the stores of their records.
struct StoreChanges: Sendable {
    let stores: [StoreKind: any ByteStore]

    func store(of change: RecordChange) throws -> any ByteStore {
        guard let store = stores[change.store] else {
            throw AssistantError(.noSuchRecord, "there is no store of \(change.store.rawValue)")
        }
        return store
    }

    func state(of change: RecordChange) async throws -> RecordState { try await store(of: change).state(of: change) }

    /// The changes with a mark on the records whose new texts others may have written.
    func marked(_ changes: [RecordChange], from source: String) async throws -> [RecordChange] {
        var marked: [RecordChange] = []
        for change in changes { marked.append(try await store(of: change).marked(change, from: source)) }
        return marked
    }

    /// Applies a change. An error after the record was written counts as success.
    func apply(_ change: RecordChange) async throws {
        let store = try store(of: change)
        do {
            try await store.apply(change)
        } catch {
            // If the state cannot be read either, the first error tells more.
            guard (try? await store.state(of: change)) == .after else { throw error }
        }
    }

    /// The number of changes from which on a store applies them together, as those of an import.
    private static let manyChanges = 8

    /// Applies changes until one fails.
    /// - Returns: the changes that are applied, and the error of the next one.
    func apply(all changes: [RecordChange]) async -> (applied: [RecordChange], error: (any Error)?) {
        var applied: [RecordChange] = []
        do {
            if changes.count >= Self.manyChanges, let first = changes.first,
                changes.allSatisfy({ $0.store == first.store }), Set(changes.map(\.id)).count == changes.count
            {
                let outcome = try await store(of: first).apply(all: changes)
                return (Array(changes.prefix(outcome.count)), outcome.error)
            }
            for change in changes {
                try await apply(change)
                applied.append(change)
            }
            return (applied, nil)
        } catch {
            return (applied, error)
        }
    }

    /// Reverts changes, the last first.
    /// - Returns: whether all are reverted.
    func revert(_ changes: [RecordChange]) async -> Bool {
        var isReverted = true
        for change in changes.reversed() {
            do {
                try await apply(change.inverted)
            } catch {
                isReverted = false
                Log.write(.error, "a part of an action cannot be reverted", [.error(error)])
            }
        }
        return isReverted
    }
}
