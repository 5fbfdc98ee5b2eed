import Foundation
import Hearth
import HearthBase
import HearthTransfer

/// A failure for display.
struct ProblemBody: Codable, Sendable, Hashable {
    var code: String
    var message: String

    init(_ failure: DownloadFailure) {
        code = failure.code
        message = failure.message
    }

    init(code: String, message: String) {
        self.code = code
        self.message = message
    }
}

/// The facts of the whole library.
struct LibraryBody: Codable, Sendable, Hashable {
    var isRefreshing: Bool
    var offerProblem: ProblemBody?
    var homeProblem: ProblemBody?
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
    var rows: [RowBody]
    var library: LibraryBody
    var event: String
}

struct RowReply: Codable, Sendable, Hashable { var row: RowBody }

struct RowsReply: Codable, Sendable, Hashable { var rows: [RowBody] }

struct IDBody: Codable, Sendable, Hashable { var id: String }

/// An installed release of a model.
struct InstalledBody: Codable, Sendable, Hashable {
    var version: String
    var variant: String?
    var isActive: Bool
    var sizeBytes: Int
    var installed: Date
}

struct ModelBody: Codable, Sendable, Hashable {
    var row: RowBody
    var releases: [InstalledBody]
    var event: String
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

/// A transfer of any process of this home.
struct TransferBody: Codable, Sendable, Hashable {
    var key: String
    var label: String
    var model: String?
    var state: String
    var receivedBytes: Int
    var totalBytes: Int?
    var sentence: String?

    init(_ summary: TransferSummary) {
        key = summary.key.name
        label = summary.label
        model = summary.plan?.release?.family.name
        state = summary.state.word
        receivedBytes = Int(clamping: summary.recordedBytes)
        totalBytes = summary.totalBytes.map { Int(clamping: $0) }
        if case .orphaned(let reason) = summary.state { sentence = reason }
    }
}

struct TransfersBody: Codable, Sendable, Hashable {
    var transfers: [TransferBody]
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
