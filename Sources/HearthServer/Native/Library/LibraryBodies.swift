import Foundation
import Hearth
import HearthBase
import HearthCatalog
import HearthTransfer

/// The facts of the whole library.
struct LibraryBody: Codable, Sendable, Hashable {
    var isRefreshing: Bool
    var offerProblem: FailureBody?
    var homeProblem: FailureBody?
    var notices: [String]
    /// The id of the model in use, of the saved text model, of the saved vision model.
    var selected: String?
    var defaultModel: String?
    var visionModel: String?
    var metered: String
    /// Whether a model can answer, and whether one understands pictures.
    var canAnswer: Bool
    var canSee: Bool
}

struct ModelsBody: Codable, Sendable, Hashable {
    var rows: [RowForm]
    var library: LibraryBody
    var event: String
}

/// A model of this device that can answer.
struct ModelChoice: Codable, Sendable, Hashable {
    var id: String
    var name: String
}

struct RowReply: Codable, Sendable, Hashable { var row: RowForm }

struct RowsReply: Codable, Sendable, Hashable { var rows: [RowForm] }

struct IDBody: Codable, Sendable, Hashable { var id: String }

struct ModelBody: Codable, Sendable, Hashable {
    var row: RowForm
    var releases: [ReleaseRow]
    var license: String?
    /// The publisher's notes about the release on offer.
    var notes: String?
    /// The bytes that removing the model frees; absent for one that is not on this device.
    var freedBytes: Int?
    var event: String
}

/// The answer to a search.
struct FoundModelsBody: Codable, Sendable, Hashable {
    /// The models of the catalog whose names hold the words, as `hearth list --available` lists them.
    var catalog: [ReleaseRow]
    /// The repositories of the Hub, as `hearth search` lists them.
    var hub: [HubSearchRow]
    /// Why the Hub was not asked, or gave no answer.
    var problem: FailureBody?
    /// Why some sizes are estimates.
    var estimates: FailureBody?
}

struct RefreshOrder: Codable, Sendable { var now: Bool? }

struct AddOrder: Codable, Sendable {
    /// A repository of the Hub, an address of a list of models, or of one file.
    var reference: String
    /// The SHA-256 of a file, hexadecimal.
    var sha256: String?
    /// A name to display.
    var name: String?
}

enum MeteredWord: String, SchemaWord { case allow, ask, deny }

struct DownloadOrder: Codable, Sendable {
    var metered: MeteredWord?
    /// Whether files without a digest may be fetched.
    var unverified: Bool?
}

enum RoleWord: String, SchemaWord { case text, vision }

struct SelectOrder: Codable, Sendable {
    enum CodingKeys: String, CodingKey { case role = "as" }

    var role: RoleWord?
}

struct PinOrder: Codable, Sendable {
    var version: String?
    var variant: String?
}

struct VerifiedBody: Codable, Sendable, Hashable {
    var isIntact: Bool
    var damaged: [String]
}

struct TransfersBody: Codable, Sendable, Hashable {
    var transfers: [TransferRow]
    var event: String
}

/// A model in memory or saved for a role.
struct ActiveModelBody: Codable, Sendable, Hashable {
    var id: String
    var name: String
    var isLoaded: Bool
}

struct ActivationBody: Codable, Sendable, Hashable {
    var text: ActiveModelBody?
    var vision: ActiveModelBody?
    var isLoading: Bool
    var loadError: String?
    var deleteError: String?
}

struct ActivationOrder: Codable, Sendable {
    var text: String?
    var vision: String?
    /// The roles whose model is no longer saved.
    var forget: [RoleWord]?
}
