import Hearth
import HearthAssistant
import HearthBase
import HearthHTTP

enum FirstStep: String, SchemaWord {
    /// No model is on this device, and none is on its way.
    case chooseModel = "choose-model"
    case downloading, loading, ready
}

struct FirstRunBody: Codable, Sendable, Hashable {
    var step: FirstStep
    var hasModel: Bool
    var hasChat: Bool
    /// The id of the best model for this device.
    var recommended: String?
}

struct MemoryBody: Codable, Sendable, Hashable {
    var deviceBytes: Int
    var processBytes: Int?
    var diskFreeBytes: Int?
}

struct NetworkBody: Codable, Sendable, Hashable {
    var isOnline: Bool
    var isMetered: Bool
}

struct StateBody: Codable, Sendable, Hashable {
    var version: String
    var address: String?
    /// The folder of models, settings and records.
    var home: String
    var firstRun: FirstRunBody
    var library: LibraryBody
    var activation: ActivationBody
    var route: RouteBody
    var memory: MemoryBody
    var network: NetworkBody
    /// The search of the web, or of the user's own texts; absent where none is set up.
    var search: SearchBody?
    /// The actions that wait for a decision.
    var waiting: Int
    /// Whether questions can be answered: by a model of this device, or by the cloud.
    var canAnswer: Bool
    var event: String
}

extension NativeService {
    /// The state at the start of the page. The first one also asks the sources for their models.
    func state() async -> StateBody {
        let event = log.lastID
        await library.askSources()
        let facts = await library.libraryBody
        let activation = await library.activation
        let condition = await now.hearth.network.reading()
        return StateBody(
            version: home.version, address: home.address, home: home.path.string,
            firstRun: await firstRun(activation, hasModel: facts.canAnswer), library: facts, activation: activation,
            route: await route(),
            memory: await memory(),
            network: NetworkBody(isOnline: condition.isOnline, isMetered: condition.isMetered),
            search: await searchBody(), waiting: approvals.waiting.count, canAnswer: facts.canAnswer || hasOther,
            event: event)
    }

    /// Whether a model outside of this device may answer.
    private var hasOther: Bool { hasCloud || !now.hearth.upstreams.all.isEmpty }

    /// Whether the cloud may answer: it is set up, and settings and rights allow it.
    var hasCloud: Bool {
        let current = now
        return current.cloud.model != nil && current.cloud.premium.canSendCloudMessage
            && !current.configuration.forceLocal
    }

    private func firstRun(_ activation: ActivationBody, hasModel: Bool) async -> FirstRunBody {
        let rows = await library.rows
        let isComing = rows.contains { $0.state == "downloading" || $0.state == "waiting" }
        let step: FirstStep =
            hasModel || hasOther
            ? (activation.isLoading ? .loading : .ready) : (isComing ? .downloading : .chooseModel)
        let kept: [ChatBody]
        do {
            kept = try await chats.chats(ConversationQuery(archived: nil, limit: 1)).chats
        } catch {
            kept = []
        }
        return FirstRunBody(
            step: step, hasModel: hasModel, hasChat: !kept.isEmpty,
            recommended: rows.first { $0.badges.contains("recommended") }?.id)
    }

    private func memory() async -> MemoryBody {
        let path = home.path
        let device = now.hearth.manager.deviceMemory
        let free = try? await blocking { try LocalFileSystem().freeSpace(at: path) }  // not shown if unknown
        return MemoryBody(
            deviceBytes: Int(clamping: device), processBytes: SystemMemory.residentBytes.map { Int(clamping: $0) },
            diskFreeBytes: free.map { Int(clamping: $0) })
    }
}
