import HearthBase

/// The purpose of a layer, by its media type: ModelPack's, Docker Model Runner's and Ollama's.
///
/// | purpose | ModelPack `application/vnd.cncf.model.` | Docker `application/vnd.docker.ai.` | Ollama `application/vnd.ollama.image.` |
/// | --- | --- | --- | --- |
/// | weights | `weight.v1.raw` | `gguf.v3`, `safetensors` | `model` |
/// | projector | `weight.v1.raw`, by its name | `mmproj`, `gguf.v3.mmproj` | `projector` |
/// | beside | `weight.config.v1.raw`, `doc.v1.raw` | `model.file`, `chat.template.jinja` | |
/// | license | `doc.v1.raw`, by its name | `license` | `license` |
/// | left out | `code.v1.…`, `dataset.v1.…` | | `template`, `params`, `system`, `messages` |
enum RegistryLayer: Sendable, Hashable {
    /// Weights, and the extension of their names; `nil` if only the name tells.
    case weights(String?)
    case projector
    /// A file beside the weights, and its usual name.
    case beside(String?)
    case license
    /// Of no use on a device.
    case leftOut
    /// The model cannot be used without it, and no device can use it; with a few words about it.
    case unusable(String)

    /// The purpose of a media type in lower case; `nil` for one of no known form.
    init?(_ mediaType: String) {
        guard let known = Self.known[mediaType] ?? Self.packed(mediaType) else { return nil }
        self = known
    }

    private static let modelPack = "application/vnd.cncf.model."
    private static let docker = "application/vnd.docker.ai."
    private static let ollama = "application/vnd.ollama.image."

    private static let known: [String: Self] = [
        modelPack + "weight.v1.raw": .weights(nil), modelPack + "weight.config.v1.raw": .beside(nil),
        modelPack + "doc.v1.raw": .beside(nil),
        docker + "gguf.v3": .weights("gguf"), docker + "safetensors": .weights("safetensors"),
        docker + "mmproj": .projector, docker + "gguf.v3.mmproj": .projector, docker + "license": .license,
        docker + "chat.template.jinja": .beside("chat_template.jinja"), docker + "model.file": .beside(nil),
        docker + "gguf.v3.lora": .unusable("an adapter"), docker + "dduf": .unusable("weights of Diffusers"),
        docker + "vllm.config.tar": .unusable("a packed configuration"),
        docker + "dir.tar": .unusable("a packed folder"),
        ollama + "model": .weights("gguf"), ollama + "projector": .projector, ollama + "license": .license,
        ollama + "template": .leftOut, ollama + "params": .leftOut, ollama + "system": .leftOut,
        ollama + "messages": .leftOut, ollama + "adapter": .unusable("an adapter"),
        ollama + "tensor": .unusable("single tensors"),
    ]

    /// The layers of ModelPack that hold archives, and those without use.
    private static func packed(_ mediaType: String) -> Self? {
        guard mediaType.hasPrefix(modelPack) else { return nil }
        let name = mediaType.dropFirst(modelPack.count)
        if ["code.", "dataset.", "doc."].contains(where: name.hasPrefix) { return .leftOut }
        if name.hasPrefix("weight.") { return .unusable("weights in an archive") }
        return nil
    }
}
