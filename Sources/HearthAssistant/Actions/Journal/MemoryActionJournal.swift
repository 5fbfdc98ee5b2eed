import Foundation

/// A journal in memory, for private conversations and apps that keep nothing.
package actor MemoryActionJournal: ActionJournal {
    private var entries: [String: ActionEntry] = [:]
    /// The keys in the order of their first entry.
    private var order: [String] = []

    package func save(_ entry: ActionEntry) {
        if entries.updateValue(entry, forKey: entry.id) == nil { order.append(entry.id) }
    }

    package func entry(_ key: String) -> ActionEntry? { entries[key] }

    package func entries(limit: Int) -> [ActionEntry] {
        order.suffix(max(0, limit)).reversed().compactMap { entries[$0] }
    }

    package func unfinished() -> [ActionEntry] { order.compactMap { entries[$0] }.filter { !$0.state.isFinished } }

    package func remove(before date: Date) {
        order.removeAll { key in
            guard let entry = entries[key], entry.changed < date, entry.state.isFinished else { return false }
            entries[key] = nil
            return true
        }
    }

    package func eraseAll() {
        entries = [:]
        order = []
    }
}

extension ActionEntry.State {
    /// Whether no step is missing.
    package var isFinished: Bool { self == .done || self == .failed || self == .undone }
}
