import Foundation
import HearthBase
import HearthInference

/// A name for a model with instructions and options, which answers requests like a model.
package struct Preset: Sendable, Hashable {
    /// Begins a conversation that a preset brings.
    package struct Message: Sendable, Hashable {
        package var role: ChatRole
        package var text: String
    }

    package var name: String
    /// The name of the model that answers.
    package var model: String
    /// The system message of conversations without one; empty for none.
    package var system = ""
    /// Options by the names of Ollama's API, such as `temperature`; `stop` is a list.
    package var parameters: JSONMembers = [:]
    package var messages: [Message] = []

    /// The most bytes of a preset.
    static let maximumBytes = 1 << 20
    /// The options that a preset may set.
    static let names = [
        "temperature", "top_k", "top_p", "min_p", "seed", "num_predict", "num_ctx", "repeat_penalty", "repeat_last_n",
        "presence_penalty", "frequency_penalty", "stop",
    ]

    /// - Throws: ``APIFailure`` for a name, a parameter or a value that cannot be used.
    package init(
        _ name: String, model: String, system: String = "", parameters: JSONMembers = [:], messages: [Message] = []
    ) throws(APIFailure) {
        let plain = name.hasSuffix(":latest") ? String(name.dropLast(":latest".count)) : name
        guard plain.wholeMatch(of: /[a-z0-9][a-z0-9._-]{0,63}/) != nil else {
            throw .invalid("model", "a name of at most 64 small letters, digits, points, hyphens and underscores")
        }
        guard !model.isEmpty, model.utf8.count <= 256 else { throw .invalid("from", "the name of a model") }
        guard system.utf8.count + messages.reduce(0, { $0 + $1.text.utf8.count }) <= Self.maximumBytes else {
            throw APIFailure(.tooLarge, "a preset has at most \(Self.maximumBytes) bytes of text")
        }
        (self.name, self.model, self.system, self.messages) = (plain, model, system, messages)
        self.parameters = parameters
        for key in parameters.keys where !Self.names.contains(key) {
            throw .invalid("parameters.\(key.prefix(60))", "one of \(Self.names.joined(separator: ", "))")
        }
        _ = try options
    }

    /// The options as a request has them.
    var options: (sampling: SamplingFields, maximumNewTokens: Int?, window: Int?, stopStrings: [String]) {
        get throws(APIFailure) {
            let fields = Fields(parameters, path: "parameters.")
            let most = try fields.integer("num_predict", in: -2...Int(Int32.max)).flatMap { $0 > 0 ? $0 : nil }
            let window = try fields.integer("num_ctx", in: 0...Int(Int32.max)).flatMap { $0 > 0 ? $0 : nil }
            return (try fields.samplingFields(), most, window, try fields.stopStrings())
        }
    }

    /// This preset with what it does not set taken from another one, whose model answers.
    func over(_ other: Preset) throws(APIFailure) -> Preset {
        try Preset(
            name, model: other.model, system: system.isEmpty ? other.system : system,
            parameters: parameters.after(other.parameters), messages: messages.isEmpty ? other.messages : messages)
    }

    /// A conversation that begins as the preset says.
    func beginning(_ messages: [ChatMessage]) -> [ChatMessage] {
        var messages = messages
        let own = self.messages.map { ChatMessage($0.role, $0.text) }
        let hasSystem = messages.first?.role == .system
        messages.insert(contentsOf: own, at: hasSystem ? 1 : 0)
        if !hasSystem, !system.isEmpty { messages.insert(ChatMessage(.system, system), at: 0) }
        return messages
    }
}

// MARK: The disk

extension Preset {
    /// The folder of a home's presets.
    package static func folder(_ home: Path) -> Path { home.appending("presets") }

    /// All presets of a home, by name; files that cannot be read are left out, and logged. Blocks.
    package static func all(_ home: Path) -> [Preset] {
        let system = LocalFileSystem()
        let names = (try? system.contents(of: folder(home))) ?? []
        return names.filter { $0.hasSuffix(".json") && !$0.contains(Path.temporaryMark) }.compactMap { name in
            do {
                let path = folder(home).joined(name)
                let data = try system.contents(ofFile: path, limit: 2 * maximumBytes)
                return try Preset(String(name.dropLast(".json".count)), record: try JSONValue(parsing: data))
            } catch {
                Log.write(.warning, "presets", "\(name) cannot be read: \(error)")
                return nil
            }
        }
    }

    /// Writes the preset; one of the same name is replaced. Blocks.
    /// - Throws: `FileError`.
    package func save(_ home: Path) throws {
        let system = LocalFileSystem()
        try system.makeFolders(Self.folder(home))
        try system.replaceContents(of: Self.folder(home).joined("\(name).json"), with: record.data)
    }

    /// Removes the preset. Blocks.
    /// - Throws: `FileError`.
    package func remove(_ home: Path) throws {
        try LocalFileSystem().removeFile(Self.folder(home).joined("\(name).json"))
    }

    private init(_ name: String, record: JSONValue) throws {
        guard record["format"] == 1, let model = record["from"]?.string else {
            throw APIFailure.invalid("format", "1")
        }
        try self.init(
            name, model: model, system: record["system"]?.string ?? "",
            parameters: record["parameters"]?.members ?? [:],
            messages: (record["messages"]?.items ?? []).compactMap { message in
                guard let role = message["role"]?.string.flatMap(ChatRole.init(rawValue:)),
                    let text = message["content"]?.string
                else { return nil }
                return Message(role: role, text: text)
            })
    }

    private var record: JSONValue {
        var record: JSONValue = ["format": 1, "from": .string(model)]
        if !system.isEmpty { record["system"] = .string(system) }
        if !parameters.isEmpty { record["parameters"] = .object(parameters) }
        if !messages.isEmpty { record["messages"] = .array(messages.map(\.body)) }
        return record
    }
}

extension Preset.Message {
    var body: JSONValue { ["role": .string(role.rawValue), "content": .string(text)] }
}
