import Foundation
import HearthBase

/// A decision from bytes alone whether a model can be imported, before any weights are fetched.
///
/// ```swift
/// let check = try ImportCheck(configuration: config, files: names, index: index)
/// print(check.architecture, check.notes)
/// ```
package struct ImportCheck: Sendable {
    /// The form of a folder of safetensors.
    package enum Kind: String, Sendable, Hashable, Codable {
        /// Written by MLX.
        case mlx
        /// Hugging Face's own form.
        case safetensors
    }

    package private(set) var kind: Kind
    /// GGUF's name, such as `llama`.
    package var architecture: String { family.architecture }
    /// The publisher's name, such as `mistral`.
    package let modelType: String
    /// Differences to the original, for people.
    package let notes: [String]

    let configuration: ModelConfiguration
    let family: Family
    let dimensions: Dimensions
    let quantization: Quantization?
    let facts: ModelFacts
    let weights: WeightFiles?

    /// Reads the files of a model that do not hold weights.
    /// - Parameters:
    ///   - configuration: the contents of `config.json`.
    ///   - files: the names of the files directly in the model's folder; `nil` if they are not known.
    ///   - index: the contents of `model.safetensors.index.json`, if the folder has it.
    /// - Throws: ``ImportError`` with `incompatible` for a model type, quantization or form of weights that this version
    ///   cannot import, `missing-file`, `damaged`.
    package init(configuration data: Data, files: [String]? = nil, index: Data? = nil) throws(ImportError) {
        configuration = try ModelConfiguration(parsing: data)
        modelType = configuration.modelType
        family = try Family.of(configuration)
        quantization = try Quantization(configuration)
        dimensions = try Dimensions(configuration, defaults: family.defaults)
        facts = try ModelFacts(configuration, family, dimensions)
        weights = try files.map { files throws(ImportError) in try WeightFiles(files: files, index: index) }
        kind = quantization == nil ? .safetensors : .mlx
        notes =
            facts.notes
            + (configuration.hasOtherParts && !family.projectors.contains(configuration.modelType)
                ? ["Only the text half is imported: the model sees nothing."] : [])
    }

    /// Finds the source of every tensor of the text half.
    /// - Parameter headers: the header of each shard of ``weights``, in their order.
    mutating func plan(
        _ headers: [(name: String, header: SafetensorsHeader)], target: ImportTarget
    ) throws(ImportError) -> TensorPlan {
        if headers.contains(where: { $0.header.metadata["format"] == "mlx" }) { kind = .mlx }
        let sources = try SourceTensors(
            shards: headers, places: weights?.places, hasOtherParts: configuration.hasOtherParts)
        return try TensorPlan(
            sources, family, dimensions, quantization, isTied: try configuration.flag("tie_word_embeddings"),
            target: target)
    }

    /// Plans the file of what the model sees with; `nil` if it sees nothing, or the engine does not know how.
    func projector(
        _ headers: [(name: String, header: SafetensorsHeader)], _ shards: [OpenFile], _ folder: ModelFolder
    ) throws -> PlannedFile? {
        let preprocessor = try folder.contents("preprocessor_config.json", limit: 1 << 20)
        guard let facts = try ProjectorFacts(configuration, dimensions, preprocessor: preprocessor) else { return nil }
        let sources = try SourceTensors(
            shards: headers, places: weights?.places, part: .vision, hasOtherParts: configuration.hasOtherParts)
        let items = try ProjectorPlan(sources, facts, quantization).items
        let storage = ImportDescription(items, kind: kind).storage
        let general: [(key: String, value: GGUFValue)] = [
            ("general.architecture", .string("clip")), ("general.type", .string("mmproj")),
            ("general.file_type", .uint32(storage.fileType)), ("general.quantization_version", .uint32(2)),
        ]
        return try PlannedFile(
            metadata: general + facts.metadata, items: items, shards: shards, settings: "projector",
            fileSystem: folder.fileSystem)
    }
}
