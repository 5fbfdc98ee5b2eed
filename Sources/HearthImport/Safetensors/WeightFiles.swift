import Foundation
import HearthBase

/// The files with the weights of a model, chosen from the names in its folder.
struct WeightFiles: Sendable, Hashable {
    /// The names of the shards in their order.
    let names: [PathComponent]
    /// The shard of each tensor, as the index says; `nil` without an index.
    let places: [String: PathComponent]?

    /// The name of the file that lists the tensors of each shard.
    static let indexName = "model.safetensors.index.json"
    /// The most bytes of that file.
    static let maximumIndexByteCount = 16 << 20

    /// Chooses the files.
    /// - Parameters:
    ///   - files: the names of the files directly in the folder.
    ///   - index: the contents of ``indexName``, if the folder has it.
    /// - Throws: ``ImportError`` with `incompatible` for weights of another form, `missing-file` for a shard that is not
    ///   in the folder, `damaged` for an unreadable index.
    init(files: [String], index: Data?) throws(ImportError) {
        let present = Set(files)
        if let index {
            let places = try Self.places(index)
            let shards = Set(places.values).sorted()
            for shard in shards where !present.contains(shard.name) { throw Self.missing(shard.name) }
            names = shards
            self.places = places
            return
        }
        places = nil
        let candidates = files.filter { name in
            name.hasSuffix(".safetensors") && (name.hasPrefix("model") || name.hasPrefix("weight"))
        }
        if present.contains("model.safetensors") {
            names = [PathComponent("model.safetensors")].compactMap { $0 }
        } else if candidates.isEmpty {
            throw Self.noWeights(files)
        } else {
            // Parts of one file name their number: `model-00001-of-00002`.
            for name in candidates {
                guard let match = name.wholeMatch(of: /(.*-)(\d{5})-of-(\d{5})\.safetensors/) else { continue }
                for number in 1...max(1, Int(match.3) ?? 1) {
                    let digits = String(String(100_000 + number).dropFirst())
                    let part = "\(match.1)\(digits)-of-\(match.3).safetensors"
                    guard present.contains(part) else { throw Self.missing(part) }
                }
            }
            names = candidates.sorted().compactMap { PathComponent($0) }
        }
        guard names.count <= Self.maximumShardCount else {
            throw .damaged("it has too many shards", file: names[0].name, found: "\(names.count)")
        }
    }

    private static let maximumShardCount = 1000

    private static func places(_ index: Data) throws(ImportError) -> [String: PathComponent] {
        // What is no JSON is no list either, and is refused with the same words.
        guard index.count <= maximumIndexByteCount, let map = (try? JSONValue(parsing: index))?["weight_map"]?.members,
            map.count <= SafetensorsHeader.maximumTensorCount, !map.isEmpty
        else { throw .damaged("it is no list of tensors and their files", file: indexName) }
        var places: [String: PathComponent] = [:]
        for (tensor, file) in map {
            guard let name = file.string.flatMap({ PathComponent($0) }), name.name.hasSuffix(".safetensors") else {
                throw .damaged("a file has an impossible name", file: indexName, field: tensor, found: file.kind)
            }
            places[tensor] = name
        }
        return places
    }

    private static func missing(_ name: String) -> ImportError {
        ImportError(
            .missingFile, "\(name) is missing: the model needs it",
            context: ErrorContext(file: name, remedy: "Fetch the whole folder."))
    }

    private static func noWeights(_ files: [String]) -> ImportError {
        if let file = files.first(where: { $0.hasSuffix(".bin") || $0.hasSuffix(".pth") || $0.hasSuffix(".pt") }) {
            return .incompatible(
                "\(file) has weights in PyTorch's own form, which can run any program when it is read", file: file,
                expected: "safetensors", found: "PyTorch",
                remedy: "Choose a release of the model with safetensors or GGUF files.")
        }
        if let file = files.first(where: { $0.hasSuffix(".npz") }) {
            return .incompatible(
                "\(file) has weights in NumPy's form of early MLX models", file: file, expected: "safetensors",
                found: "NumPy")
        }
        return ImportError(
            .missingFile, "the folder has no weights: model.safetensors is missing",
            context: ErrorContext(file: "model.safetensors"))
    }
}
