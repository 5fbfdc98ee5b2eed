import HearthBase

/// The tensors of one part of a model in all shards, by the names of that part alone.
struct SourceTensors: Sendable {
    /// A tensor and the shard that holds it.
    struct Tensor: Sendable {
        /// The index of the shard.
        let shard: Int
        let tensor: SafetensorsHeader.Tensor
        /// The shard's name in messages.
        let file: String
    }

    /// A part of a model.
    enum Part: Sendable { case text, vision }

    /// The names in the order of the shards.
    let names: [String]
    private let tensors: [String: Tensor]

    /// Collects the tensors.
    /// - Parameters:
    ///   - shards: the headers with the files' names.
    ///   - places: the file of each tensor as the index says; `nil` without an index.
    ///   - part: the part whose tensors are collected.
    ///   - hasOtherParts: whether the model has parts besides its text half.
    /// - Throws: ``ImportError`` with `damaged` for a tensor that two shards have, or that the index promises and no
    ///   shard has.
    init(
        shards: [(name: String, header: SafetensorsHeader)], places: [String: PathComponent]?, part: Part = .text,
        hasOtherParts: Bool
    ) throws(ImportError) {
        var (names, tensors, files): ([String], [String: Tensor], [String: String]) = ([], [:], [:])
        for (index, shard) in shards.enumerated() {
            for tensor in shard.header.tensors {
                if let other = files.updateValue(shard.name, forKey: tensor.name) {
                    throw .damaged(
                        "a tensor is also in \(other)", file: shard.name, field: tensor.name)
                }
                let visionName = hasOtherParts ? Self.visionName(tensor.name) : nil
                let textName = visionName == nil ? Self.textName(tensor.name, hasOtherParts: hasOtherParts) : nil
                guard let name = part == .text ? textName : visionName else { continue }
                names.append(name)
                guard tensors.updateValue(Tensor(shard: index, tensor: tensor, file: shard.name), forKey: name) == nil
                else { throw .damaged("a tensor has two names", file: shard.name, field: tensor.name) }
            }
        }
        for (tensor, place) in places ?? [:] where files[tensor] != place.name {
            throw .damaged(
                "a tensor is not in the file that the index names", file: place.name, field: tensor,
                found: files[tensor])
        }
        self.names = names
        self.tensors = tensors
    }

    subscript(name: String) -> Tensor? { tensors[name] }

    /// The name in a model that has only a text half; `nil` for tables that the engine computes.
    private static func textName(_ name: String, hasOtherParts: Bool) -> String? {
        if name.hasSuffix(".rotary_emb.inv_freq") { return nil }
        guard hasOtherParts else { return name }
        for (prefix, text) in [("model.language_model.", "model."), ("language_model.", "")]
        where name.hasPrefix(prefix) {
            return text + name.dropFirst(prefix.count)
        }
        return name
    }

    /// The name of a tensor that belongs to what the model sees with; `nil` for other tensors.
    private static func visionName(_ name: String) -> String? {
        let short = name.hasPrefix("model.") ? String(name.dropFirst("model.".count)) : name
        let prefixes = ["vision_tower.", "vision_model.", "visual.", "multi_modal_projector."]
        guard let prefix = prefixes.first(where: short.hasPrefix) else { return nil }
        // MLX gives Qwen's tower the name of the others.
        let isQwens = prefix == "vision_tower." && !short.hasPrefix("vision_tower.vision_model.")
        return isQwens ? "visual.\(short.dropFirst(prefix.count))" : short
    }
}
