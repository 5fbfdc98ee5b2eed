import HearthBase
import HearthInference

/// A request of Ollama's `/api/create`: a preset of a model, without weights of its own.
struct PresetRequest: Sendable {
    var preset: Preset
    var streams: Bool

    init(_ fields: Fields) throws(APIFailure) {
        let name = try fields.modelOrName()
        try fields.refuse(["files": [], "adapters": [], "quantize": [.string("")], "template": [.string("")]])
        streams = try fields.flag("stream") ?? true
        if let text = try fields.string("modelfile") {
            preset = try PresetText.preset(name, text)
            return
        }
        var messages: [Preset.Message] = []
        for message in try fields.objects("messages", atMost: 1000) ?? [] {
            let word = try message.requiredWord(
                "role", of: ["system", "user", "assistant"], "system, user or assistant")
            messages.append(
                Preset.Message(role: ChatRole(rawValue: word) ?? .user, text: try message.requiredString("content")))
        }
        preset = try Preset(
            name, model: try fields.requiredString("from"), system: try fields.string("system") ?? "",
            parameters: fields.value("parameters", .object)?.members ?? [:], messages: messages)
    }
}
