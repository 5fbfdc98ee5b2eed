import Foundation
import HearthBase

/// What was made of a release, by what and from what: `prepared.json`.
///
/// ```json
/// { "format": 1, "recipe": { "engine": "llama.cpp", "engineVersion": "…", "settings": "q4_k_m", … },
///   "file": "weights.gguf", "sourceSha256": "…", "sizeBytes": 1, "sha256": "…", "modified": 1800000000.25,
///   "made": 1800000000 }
/// ```
struct PreparedRecord: Sendable, Hashable {
    /// The largest record that is read, in bytes.
    static let sizeLimit: UInt64 = 1 << 16

    var recipe: PreparationRecipe
    var file: PathComponent
    /// What the release's own weights hash to: other bytes under the same name need another artefact.
    var source: SHA256Digest
    var sizeBytes: UInt64
    var sha256: SHA256Digest
    /// When the file was last written: as long as that is so, its bytes are not read again before it is opened.
    var modified: Date
    var made: Date

    /// Whether it is what a recipe would make now.
    func isMade(by recipe: PreparationRecipe, of source: SHA256Digest) -> Bool {
        self.source == source && self.recipe.engine == recipe.engine
            && self.recipe.engineVersion == recipe.engineVersion && self.recipe.settings == recipe.settings
    }

    /// The digest of what something is made of, `nil` for a release without weights.
    static func source(of release: InstalledRelease) -> SHA256Digest? {
        release.receipt.files.first { $0.role == .weights }?.digest
    }
}

extension PreparedRecord: DiskRecord {
    private enum Key: String, CodingKey {
        case format, recipe, file, sourceSha256, sizeBytes, sha256, modified, made
    }

    init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: Key.self)
        guard try values.decode(Int.self, forKey: .format) == 1 else {
            throw DecodingError.dataCorruptedError(forKey: .format, in: values, debugDescription: "unknown")
        }
        recipe = try values.decode(PreparationRecipe.self, forKey: .recipe)
        guard let file = PathComponent(try values.decode(String.self, forKey: .file)) else {
            throw DecodingError.dataCorruptedError(forKey: .file, in: values, debugDescription: "not a file's name")
        }
        self.file = file
        source = try values.decode(SHA256Digest.self, forKey: .sourceSha256)
        sizeBytes = try values.decode(UInt64.self, forKey: .sizeBytes)
        sha256 = try values.decode(SHA256Digest.self, forKey: .sha256)
        modified = Date(timeIntervalSince1970: try values.decode(Double.self, forKey: .modified))
        made = Date(timeIntervalSince1970: try values.decode(Double.self, forKey: .made))
    }

    func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: Key.self)
        try values.encode(1, forKey: .format)
        try values.encode(recipe, forKey: .recipe)
        try values.encode(file.name, forKey: .file)
        try values.encode(source, forKey: .sourceSha256)
        try values.encode(sizeBytes, forKey: .sizeBytes)
        try values.encode(sha256, forKey: .sha256)
        try values.encode(modified.timeIntervalSince1970, forKey: .modified)
        try values.encode(made.timeIntervalSince1970, forKey: .made)
    }
}
