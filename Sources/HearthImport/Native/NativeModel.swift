import Foundation
import HearthBase

/// A folder of safetensors as an engine needs it that computes with the weights where they are.
///
/// Making a value reads and checks what an import reads and checks; it never reads the weights. Parts have GGUF's names,
/// such as `blk.0.attn_q.weight`, and rows in the publisher's order.
package struct NativeModel: Sendable {
    /// Numbers in one of the files.
    package struct Part: Sendable, Hashable {
        /// The index in ``files``.
        package let file: Int
        package let offset: UInt64
        package let type: SafetensorsType
    }

    /// A matrix, or a vector of one column.
    package struct Matrix: Sendable, Hashable {
        package let rows: Int
        package let columns: Int
        package let weights: Part
        /// The groups of a quantized matrix; `nil` for floats.
        package let groups: Groups?
    }

    /// The affine groups of a quantized matrix.
    package struct Groups: Sendable, Hashable {
        package let bits: Int
        package let size: Int
        package let scales: Part
        package let biases: Part
    }

    /// GGUF's name, such as `llama`.
    package let architecture: String
    /// The publisher's name, such as `mistral`.
    package let modelType: String
    /// Differences to the original, each a sentence for people.
    package let notes: [String]
    package let files: [Path]
    package let parts: [String: Matrix]
    /// Factors of the rotation's waves; empty for most models.
    package let factors: [Float]
    /// The bytes of a GGUF file with the vocabulary and the chat template, without tensors.
    package let vocabulary: [UInt8]
    private let facts: [String: GGUFValue]

    /// Reads a folder. Blocks; takes about a second for a large vocabulary.
    /// - Parameters:
    ///   - folder: the folder with `config.json` and the shards.
    ///   - files: the names of the model's files; `nil` for all files of the folder.
    /// - Throws: ``ImportError`` with `incompatible`, `damaged`, `missing-file` or `linked-file`; `FileError`.
    package init(folder path: Path, files: [String]? = nil, fileSystem: any FileSystem = LocalFileSystem()) throws {
        let folder = try ModelFolder(path, files: files, fileSystem)
        let name = ModelConfiguration.fileName
        guard let data = try folder.contents(name, limit: ModelConfiguration.maximumByteCount) else {
            throw ImportError(
                .missingFile, "the folder has no \(name)",
                context: ErrorContext(file: name, remedy: "Fetch the whole folder."))
        }
        let index = try folder.contents(WeightFiles.indexName, limit: WeightFiles.maximumIndexByteCount)
        var check = try ImportCheck(configuration: data, files: folder.names.sorted(), index: index)
        let names = check.weights?.names ?? []
        let headers = try names.map { ($0.name, try folder.header($0.name, of: folder.open($0.name))) }
        let items = try check.plan(headers, target: .asStored).items
        let tokenizer = try TokenizerImport(
            folder.tokenizerFiles(model: data), vocabularySize: check.dimensions.vocabulary,
            architecture: check.architecture)

        architecture = check.architecture
        modelType = check.modelType
        notes = check.notes + tokenizer.notes
        self.files = names.map { path.appending($0) }
        parts = Dictionary(
            try items.map { ($0.output.name, try Matrix($0)) }, uniquingKeysWith: { first, _ in first })
        factors = check.facts.factors.first { $0.name == "rope_freqs.weight" }?.values ?? []
        let prefix = "\(check.architecture)."
        facts = Dictionary(
            check.facts.metadata.map { (String($0.key.dropFirst(prefix.count)), $0.value) },
            uniquingKeysWith: { first, _ in first })
        var metadata: [(key: String, value: GGUFValue)] = [
            ("general.architecture", .string(check.architecture)), ("general.type", .string("model")),
        ]
        if let part = tokenizer.requiredNamePart { metadata.append(("general.name", .string(part))) }
        vocabulary = try GGUFWriter(metadata: metadata + tokenizer.metadata, tensors: []).header
    }

    /// A whole number of GGUF's metadata by its name without the architecture; `nil` if there is none.
    package func integer(_ key: String) -> Int? { facts[key]?.integer }

    /// A number of GGUF's metadata by its name without the architecture; `nil` if there is none.
    package func number(_ key: String) -> Float? {
        if case .float32(let number) = facts[key] { number } else { nil }
    }

    /// A text of GGUF's metadata by its name without the architecture; `nil` if there is none.
    package func text(_ key: String) -> String? { facts[key]?.text }
}

extension NativeModel.Matrix {
    fileprivate init(_ item: PlannedTensor) throws(ImportError) {
        (rows, columns) = (item.rows, item.columns)
        func part(_ place: PlannedTensor.Place, _ type: SafetensorsType) -> NativeModel.Part {
            NativeModel.Part(file: place.shard, offset: place.offset, type: type)
        }
        switch item.conversion {
        case .copy, .floats, .round:
            guard let type = item.numbers else { throw Self.unknown(item) }
            weights = part(item.weights, type)
            groups = nil
        case .affine(let bits, let size, let number, _):
            guard let scales = item.scales, let biases = item.biases else { throw Self.unknown(item) }
            weights = part(item.weights, .uint32)
            groups = NativeModel.Groups(
                bits: bits, size: size, scales: part(scales, number.type), biases: part(biases, number.type))
        default: throw Self.unknown(item)
        }
    }

    private static func unknown(_ item: PlannedTensor) -> ImportError {
        .incompatible(
            "weights in the form of \(item.weights.name.quoted) are only imported", field: item.weights.name,
            expected: "floats, or affine groups", remedy: "Import the model.")
    }
}

extension PlannedTensor {
    /// The type of a tensor that is not quantized.
    fileprivate var numbers: SafetensorsType? {
        switch conversion {
        case .floats(let number, _), .round(let number): number.type
        case .copy:
            switch output.storage {
            case .f32: .float32
            case .f16: .float16
            case .bf16: .bfloat16
            default: nil
            }
        default: nil
        }
    }
}

extension Conversion.Number {
    /// The type in a safetensors file.
    fileprivate var type: SafetensorsType {
        switch self {
        case .float32: .float32
        case .float16: .float16
        case .bfloat16: .bfloat16
        }
    }
}
