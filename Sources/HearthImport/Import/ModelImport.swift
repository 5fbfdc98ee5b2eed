import Foundation
import HearthBase

/// The import of a folder of safetensors as one GGUF file.
///
/// Making a value reads `config.json`, the headers of the shards and the tokenizer's rules, never the weights, and
/// throws if the folder cannot be imported. ``write(to:flag:progress:)`` then converts the weights.
///
/// ```swift
/// let model = try ModelImport(folder: folder)
/// print(model.summary)
/// let report = try model.write(to: path, flag: flag) { share in print(share) }
/// ```
package struct ModelImport: Sendable {
    /// The version of the results: it changes whenever the same folder would become another file.
    package static let version = "1"

    /// The keys of ``summary`` and of ``notes``, one a line, in the metadata of the file.
    package static let summaryKey = "hearth.import.summary"
    package static let notesKey = "hearth.import.notes"

    package typealias Kind = ImportCheck.Kind

    package let kind: Kind
    /// GGUF's name, such as `llama`.
    package let architecture: String
    /// The publisher's name, such as `mistral`.
    package let modelType: String
    /// All that decides the result besides ``version`` and the folder's bytes.
    package var settings: String { "target=\(target.rawValue)" }
    /// The bytes of the GGUF file.
    package var expectedSize: UInt64 { file.expectedSize }
    /// The form of the weights, for people: `Q4_1 from MLX's 4 bits in groups of 64`.
    package let summary: String
    /// Differences to the original, each a sentence for people.
    package let notes: [String]

    /// The file of what the model sees with, beside its own; `nil` if it sees nothing or the engine does not know how.
    package let projector: PlannedFile?

    let target: ImportTarget
    /// The GGUF file of the text model.
    let file: PlannedFile

    /// Reads a folder as far as needed to decide. Blocks; takes about a second for a large vocabulary.
    /// - Parameters:
    ///   - folder: the folder with `config.json` and the shards.
    ///   - files: the names of the model's files; `nil` for all files of the folder.
    ///   - target: how matrices of floats are stored.
    /// - Throws: ``ImportError`` with `incompatible`, `damaged`, `missing-file` or `linked-file`; `FileError`.
    package init(
        folder: Path, files: [String]? = nil, target: ImportTarget = .asStored,
        fileSystem: any FileSystem = LocalFileSystem()
    ) throws {
        let folder = try ModelFolder(folder, files: files, fileSystem)
        let name = ModelConfiguration.fileName
        guard let data = try folder.contents(name, limit: ModelConfiguration.maximumByteCount) else {
            throw ImportError(
                .missingFile, "the folder has no \(name)",
                context: ErrorContext(file: name, remedy: "Fetch the whole folder."))
        }
        let index = try folder.contents(WeightFiles.indexName, limit: WeightFiles.maximumIndexByteCount)
        var check = try ImportCheck(configuration: data, files: folder.names.sorted(), index: index)
        var (shards, headers): ([OpenFile], [(name: String, header: SafetensorsHeader)]) = ([], [])
        for shard in check.weights?.names ?? [] {
            let file = try folder.open(shard.name)
            headers.append((shard.name, try folder.header(shard.name, of: file)))
            shards.append(file)
        }
        let items = try check.plan(headers, target: target).items
        let tokenizer = try TokenizerImport(
            folder.tokenizerFiles(model: data), vocabularySize: check.dimensions.vocabulary,
            architecture: check.architecture)

        kind = check.kind
        architecture = check.architecture
        modelType = check.modelType
        self.target = target
        let description = ImportDescription(items, kind: check.kind)
        summary = description.summary
        notes = check.notes + description.notes + tokenizer.notes
        var metadata: [(key: String, value: GGUFValue)] = [
            ("general.architecture", .string(check.architecture)), ("general.type", .string("model")),
            ("general.file_type", .uint32(description.storage.fileType)),
            ("general.quantization_version", .uint32(2)),
        ]
        if let part = tokenizer.requiredNamePart { metadata.append(("general.name", .string(part))) }
        metadata.append((Self.summaryKey, .string(summary)))
        if !notes.isEmpty { metadata.append((Self.notesKey, .string(notes.joined(separator: "\n")))) }
        file = try PlannedFile(
            metadata: metadata + check.facts.metadata + tokenizer.metadata, factors: check.facts.factors, items: items,
            shards: shards, settings: "target=\(target.rawValue)", fileSystem: fileSystem)
        projector = try check.projector(headers, shards, folder)
    }

    /// Writes the GGUF file of the text model (``PlannedFile/write(to:flag:progress:)``). Blocks.
    package func write(
        to target: Path, flag: StopFlag, progress: @escaping @Sendable (Double) -> Void
    ) throws -> ImportReport {
        try file.write(to: target, flag: flag, progress: progress)
    }
}

extension ModelFolder {
    /// The files that decide how texts become tokens.
    func tokenizerFiles(model: Data) throws -> TokenizerFiles {
        func small(_ name: String) throws -> Data? { try contents(name, limit: TokenizerLimits.smallFileBytes) }
        func large(_ name: String) throws -> Data? { try contents(name, limit: TokenizerLimits.fileBytes) }
        let template = try small("chat_template.jinja") ?? small("chat_template.json")
        return TokenizerFiles(
            tokenizer: try large("tokenizer.json"), sentencePiece: try large("tokenizer.model"),
            configuration: try small("tokenizer_config.json"), template: template,
            specialTokens: try small("special_tokens_map.json"), addedTokens: try small("added_tokens.json"),
            generation: try small("generation_config.json"), model: model)
    }
}
