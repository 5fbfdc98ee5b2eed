/// The contacts of the system.
///
/// Errors are ``SystemStoreError``, or `AssistantError` for values that it refuses.
protocol ContactDatabase: Sendable {
    /// A contact by its identifier.
    func contact(_ identifier: String) async throws -> ContactCard?

    /// All contacts that the app sees, in any order.
    func contacts() async throws -> [ContactCard]

    /// Whether the app may read and write notes.
    var hasNotes: Bool { get }

    /// Saves a new or changed contact.
    func save(_ card: ContactCard) async throws

    func remove(_ identifier: String) async throws
}
