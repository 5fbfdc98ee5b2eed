import Foundation
import Hearth
import HearthAssistant
import HearthBase
import HearthInference

/// A model that clients may name.
package struct ServedModel: Sendable, Hashable {
    /// The name for requests.
    package var name: String
    /// Other names for requests.
    package var aliases: [String] = []
    /// The time of its installation.
    package var created = Date(timeIntervalSince1970: 0)
    /// The bytes of its files.
    package var size: UInt64 = 0
    /// The digest of its weights, hexadecimal; empty if unknown.
    package var digest = ""
    /// The family, such as `smollm2-135m-instruct`.
    package var family = ""
    /// The variant, such as `q4_k_m`; empty if unknown.
    package var variant = ""
    /// The file name of its weights.
    package var fileName = ""
    /// The file format, such as `gguf`; empty for a model of another server.
    package var format = "gguf"
    /// What its file says; `nil` if it cannot be read.
    package var facts: ServedFacts?
    /// The preset whose name it has; `nil` for a model of its own.
    package var preset: Preset?
    /// The server or the list of models behind the name; `nil` for a model of this device.
    package var upstream: String?

    /// Whether a request's name stands for the model. The tag `latest`, which Ollama's clients add, is ignored.
    package func answers(to name: String) -> Bool {
        let plain = name.hasSuffix(":latest") ? String(name.dropLast(":latest".count)) : name
        return self.name == plain || aliases.contains(plain) || self.name == name || aliases.contains(name)
    }
}

/// The facts in a model's file.
package struct ModelDetails: Sendable, Hashable {
    /// The chat template; empty without one.
    package var template = ""
    /// The metadata by key, without lists.
    package var metadata: JSONMembers = [:]
}

/// A model in memory.
package struct LoadedModel: Sendable, Hashable {
    package var model: ServedModel
    /// The bytes it takes.
    package var bytes: UInt64
    /// The time at which it leaves memory if nothing uses it; `nil` if it stays.
    package var expires: Date?
}

/// The progress of a pull.
package struct PullStep: Sendable, Hashable {
    /// The work, in words.
    package var status: String
    package var digest = ""
    package var completed: UInt64?
    package var total: UInt64?
}

/// Finds, loads and keeps the models of a server. Names from clients are names of models, never paths.
package protocol ModelProvider: Sendable {
    /// The models that can answer.
    func models() async throws -> [ServedModel]

    /// The model of a name, or the default model for `nil`.
    /// - Throws: ``APIFailure`` if there is none.
    func model(_ name: String?) async throws -> ServedModel

    /// The engine of a model, which may load at its first use and has tools.
    func engine(for model: ServedModel) async throws -> any InferenceEngine

    /// The facts in a model's file; reads the header and loads nothing.
    func details(of model: ServedModel) async throws -> ModelDetails

    /// The models in memory.
    func loaded() async -> [LoadedModel]

    /// Whether a request of any client uses the model now.
    func isAnswering(_ model: ServedModel) async -> Bool

    /// Records the end of a request, after which the model stays in memory for a time; `nil` for the usual time.
    func used(_ model: ServedModel, keepAlive: Duration?) async

    /// Unloads a model as soon as no answer needs it.
    func unload(_ model: ServedModel) async

    /// Fetches and installs a model.
    func pull(_ name: String, progress: @escaping @Sendable (PullStep) -> Void) async throws

    /// Removes a model from the device, or a preset.
    func delete(_ name: String) async throws

    /// Keeps a preset under its name.
    /// - Throws: ``APIFailure`` if a model has the name, or there is none for the preset.
    func keep(_ preset: Preset) async throws
}

extension ModelProvider {
    /// Refuses, for providers without presets.
    package func keep(_ preset: Preset) async throws {
        throw APIFailure(.notFound, "presets are not served")
    }
}

/// The server's settings of answers.
package struct APISettings: Sendable {
    /// The values of requests that set none.
    package var options = GenerationOptions(timeout: .seconds(3600))
    /// The most tokens of an answer whose request names no limit; `nil` for half of the context, at most 2048. Each
    /// answer reserves room for them, so a higher limit lets fewer requests run side by side.
    package var maximumNewTokens: Int?
    /// Whether models of other servers keep their own temperature for requests that set none.
    package var leavesTemperature = true
    /// The time after which a stream begins although its request still waits.
    package var longestSilence: Duration = .seconds(10)
    /// The most answers of one request.
    package var maximumChoices = 64
    /// The version of this program.
    package var version = "0.1.0"
    /// Searches the web for models; `nil` if no search is set up.
    package var search: WebSearch?

    package init() {}

    /// The settings of a home.
    package init(configuration: Configuration, version: String) {
        let timeout = options.timeout
        options = GenerationOptions(configuration: configuration)
        options.timeout = timeout
        options.sampling.seed = configuration.server.seed
        maximumNewTokens = configuration.maximumNewTokens
        leavesTemperature = configuration.temperature == nil
        self.version = version
        // The assistant's own notes and conversations are no web.
        guard configuration.assistant.search == .searxng else { return }
        let assistant = configuration.assistant
        search = { query, limit in
            let provider = try await blocking { try assistant.provider() }
            return try await provider?.search(query, limit: limit).compactMap { found in
                found.url.map { WebPage(title: found.title, address: $0, excerpt: found.excerpt) }
            } ?? []
        }
    }

    /// The most tokens of an answer whose request names no limit.
    func limit(window: Int) -> Int { maximumNewTokens ?? min(2048, max(1, window / 2)) }
}
