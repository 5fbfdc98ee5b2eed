import Foundation
import HearthBase
import HearthHTTP
import HearthInference
import HearthTestSupport

@testable import HearthServer

/// A provider of one model that answers from a script.
final class ScriptedModels: ModelProvider {
    let scripted: ScriptedEngine
    let model: ServedModel
    let unloaded = Locked<[String]>([])
    let kept = Locked<[Duration?]>([])
    let deleted = Locked<[String]>([])
    let answering = Locked(false)
    private let answersAnyName: Bool
    /// The preset whose name the model has.
    let preset = Locked<Preset?>(nil)
    let keptPresets = Locked<[Preset]>([])

    /// - Parameter answersAnyName: whether the model answers requests for others.
    init(_ engine: ScriptedEngine, name: String = "tiny", answersAnyName: Bool = false) {
        scripted = engine
        self.answersAnyName = answersAnyName
        var model = ServedModel(name: name, created: Date(timeIntervalSince1970: 1_700_000_000))
        model.family = name
        model.variant = "q4_1"
        model.fileName = "tiny.gguf"
        model.size = 1000
        var facts = ServedFacts()
        (facts.architecture, facts.parameterCount, facts.contextLength) = ("llama", 135_000_000, 2048)
        facts.abilities = [.completion, .tools, .thinking]
        model.facts = facts
        self.model = model
    }

    func models() async throws -> [ServedModel] { [model] }

    func model(_ name: String?) async throws -> ServedModel {
        guard answersAnyName || model.answers(to: name ?? model.name) else { throw APIFailure.noModel(name ?? "") }
        var found = model
        found.preset = preset.withLock { $0 }
        return found
    }

    func engine(for model: ServedModel) async throws -> any InferenceEngine { scripted }

    func details(of model: ServedModel) async throws -> ModelDetails {
        var details = ModelDetails()
        details.template = "{% if tools %}<think>"
        details.metadata = ["general.architecture": .string("llama")]
        return details
    }

    func loaded() async -> [LoadedModel] { [LoadedModel(model: model, bytes: 1000)] }

    func isAnswering(_ model: ServedModel) async -> Bool { answering.withLock { $0 } }

    func used(_ model: ServedModel, keepAlive: Duration?) async { kept.withLock { $0.append(keepAlive) } }

    func unload(_ model: ServedModel) async { unloaded.withLock { $0.append(model.name) } }

    func pull(_ name: String, progress: @escaping @Sendable (PullStep) -> Void) async throws {
        guard name == "tiny" else { throw APIFailure.noModel(name) }
        progress(PullStep(status: "pulling tiny", digest: "abc", completed: 5, total: 10))
    }

    func keep(_ preset: Preset) async throws { keptPresets.withLock { $0.append(preset) } }

    func delete(_ name: String) async throws { deleted.withLock { $0.append(name) } }
}

/// The API over a scripted engine, without a network.
struct APIFixture {
    static let abilities: EngineCapabilities = [
        .schema, .grammar, .seed, .rawPrompt, .logProbabilities, .logitBias, .tools, .thinking,
    ]

    let engine: ScriptedEngine
    let models: ScriptedModels
    let routes: APIRoutes

    /// - Parameter search: searches the web for models.
    init(
        _ answers: [[ScriptedEngine.Step]] = [], abilities: EngineCapabilities = Self.abilities,
        answersAnyName: Bool = false, search: WebSearch? = nil
    ) {
        engine = ScriptedEngine(answers, capabilities: abilities)
        models = ScriptedModels(engine, answersAnyName: answersAnyName)
        var settings = APISettings()
        settings.search = search
        // On a clock that stands still, a busy machine is no silence.
        routes = APIRoutes(APIService(models, settings: settings, time: ManualClock().time))
    }

    /// A reply with its parts.
    struct Answer {
        let status: Int
        let headers: HTTPHeaders
        let bytes: [UInt8]

        var text: String { String(decoding: bytes, as: UTF8.self) }

        /// The kinds that the answer goes without.
        var leftOut: String? { headers.joined(LeftOut.header) }

        var json: JSONValue {
            get throws { try JSONValue(parsing: Data(bytes)) }
        }

        /// The data of server-sent events.
        var events: [JSONValue] {
            get throws {
                try text.split(separator: "\n").filter { $0.hasPrefix("data: {") }
                    .map { try JSONValue(parsing: Data($0.dropFirst(6).utf8)) }
            }
        }

        /// The lines of JSON.
        var lines: [JSONValue] {
            get throws { try text.split(separator: "\n").map { try JSONValue(parsing: Data($0.utf8)) } }
        }
    }

    func send(_ method: String, _ path: String, _ body: String = "") async throws -> Answer {
        try await send(method, path, Array(body.utf8))
    }

    func send(_ method: String, _ path: String, _ body: [UInt8]) async throws -> Answer {
        let request = ServerRequest(method: method, target: path, body: RequestBody(body))
        let reply = await routes.reply(to: request) ?? .text(404, "no route")
        return Answer(status: reply.status, headers: reply.headers, bytes: try await reply.collectedBody())
    }

    func post(_ path: String, _ body: String) async throws -> Answer { try await send("POST", path, body) }
}

extension JSONValue {
    /// The value at a path such as `choices/0/message/content`.
    subscript(path path: String) -> JSONValue? {
        var place: JSONValue? = self
        for part in path.split(separator: "/") {
            switch place {
            case .object(let members): place = members[String(part)]
            case .array(let items):
                place = Int(part).flatMap { items.indices.contains($0) ? items[$0] : nil }
            default: return nil
            }
        }
        return place
    }

    func text(_ path: String) -> String? { if case .string(let text)? = self[path: path] { text } else { nil } }

    func number(_ path: String) -> Double? {
        if case .number(let digits)? = self[path: path] { Double(digits) } else { nil }
    }

    func count(_ path: String) -> Int? {
        if case .array(let items)? = self[path: path] { items.count } else { nil }
    }
}
