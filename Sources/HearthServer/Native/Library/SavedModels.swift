import Hearth
import HearthBase
import HearthCatalog

/// The models that the settings name besides the text model.
struct SavedModels: Sendable, Hashable {
    /// The setting `visionModel`, as the user wrote it.
    var vision: String?

    /// The family of ``vision``.
    var visionFamily: Family? { vision.flatMap { Family($0.prefix { $0 != "@" && $0 != ":" }) } }

    /// Reads the settings of a home; unreadable ones leave the values before.
    static func read(home: Path, or before: SavedModels) async -> SavedModels {
        do {
            let configuration = try await blocking { try Configuration.load(home: home) }
            return SavedModels(vision: configuration.visionModel)
        } catch {
            return before
        }
    }
}
