import HearthBase

/// The collections that hold the user's own records. All others are written by other people, as subscribed and shared
/// calendars are.
package final class OwnCollections: Sendable {
    private let standard: [String]
    private let chosen = Locked<[String]?>(nil)

    /// - Parameter standard: the collections without a setting.
    package init(_ standard: [String]) { self.standard = standard }

    /// Those of calendars and lists of reminders: `personal`.
    package static var personal: OwnCollections { OwnCollections(["personal"]) }

    /// The names of the setting `stores.KIND.own`; without it those of the kind.
    var names: [String] { chosen.withLock { $0 } ?? standard }

    /// Uses the names of the setting; `nil` without one.
    func use(_ names: [String]?) { chosen.withLock { $0 = names } }

    /// Where the texts of a record are from: its own mark, or its collection; `nil` for the user's own.
    func source(_ kind: StoreKind, _ collection: String, marked: String?) -> String? {
        marked ?? (names.contains(collection) ? nil : "\(kind.rawValue) \(collection)")
    }
}
