import Foundation
import HearthBase

/// What was made of a release, by what and from what: `prepared.json`.
///
/// ```json
/// { "format": 1, "recipe": { "engine": "llama.cpp", "engineVersion": "…", "settings": "q4_k_m", … },
///   "file": "weights.gguf", "sourceSha256": "…", "sizeBytes": 1, "sha256": "…", "modified": 1800000000.25,
///   "made": 1800000000 }
/// ```
/// Where it is a folder, what is in that takes the place of `modified`:
/// ```json
/// { …, "recipe": { …, "product": "folder", "sourceFolder": "Leaf.mlpackage" }, "file": "Leaf.mlmodelc",
///   "files": [ { "path": "weights/weight.bin", "sizeBytes": 1, "modified": 1800000000.25 } ], "folders": [ "weights" ] }
/// ```
/// Where it did not pass its trial and the release did without, or ended processes while it was made, this is all there is of it: what is
/// recorded is not there. The `cause` is `trial` or `making`.
/// ```json
/// { …, "refused": { "contentSha256": "…", "cause": "trial", "reason": "…" } }
/// ```
struct PreparedRecord: Sendable, Hashable {
    /// The largest record that is read and written, in bytes: some thousand files.
    static let sizeLimit: UInt64 = 1 << 20

    var recipe: PreparationRecipe
    /// The name of the file or folder.
    var file: PathComponent
    /// What that hashes to from which it was made: other bytes under the same name need another artefact.
    var source: SHA256Digest
    /// How it looked: as long as that is so, its bytes are not read again before it is opened.
    var shape: PreparedShape
    var sha256: SHA256Digest
    var made: Date
    /// Why it is not opened.
    var refusal: Refusal?

    /// What speaks against it.
    struct Refusal: Sendable, Hashable {
        /// What it did not come through.
        enum Cause: String, Sendable, Hashable, Codable {
            /// It was made, and an engine could not work with it: that holds until a trial has passed.
            case trial
            /// Processes ended in it: that holds until it is made all the same.
            case making
        }

        /// Where nobody wrote down why.
        static let unknownReason = "the reason is unknown"

        /// Of the release it was made for: all that this holds.
        var content: SHA256Digest
        var cause: Cause
        /// As the end of a sentence, as short and harmless as ``HeldBack/reason``.
        var reason: String

        init(of content: SHA256Digest, in cause: Cause, because reason: String) {
            let kept = HeldBack.bounded(reason)
            self.content = content
            self.cause = cause
            self.reason = kept.allSatisfy(\.isWhitespace) ? Self.unknownReason : kept
        }
    }

    /// Whether it is what a recipe would make now.
    func isMade(by recipe: PreparationRecipe, of source: SHA256Digest) -> Bool {
        self.source == source && self.recipe.engine == recipe.engine
            && self.recipe.engineVersion == recipe.engineVersion && self.recipe.settings == recipe.settings
            && self.recipe.product == recipe.product
    }

    /// Whether it was made from what a release holds now.
    func isMade(from release: InstalledRelease) -> Bool { recipe.sourceDigest(in: release) == source }

    /// Whether it is refused for what a release holds now.
    func isRefused(for release: InstalledRelease) -> Bool { refusal?.content == release.receipt.content }
}

extension PreparedRecord: DiskRecord {
    private enum Key: String, CodingKey {
        case format, recipe, file, sourceSha256, sizeBytes, sha256, modified, files, folders, made, refused
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
        sha256 = try values.decode(SHA256Digest.self, forKey: .sha256)
        shape =
            switch recipe.product {
            case .file:
                .file(
                    size: try values.decode(UInt64.self, forKey: .sizeBytes),
                    modified: Date(timeIntervalSince1970: try values.decode(Double.self, forKey: .modified)))
            case .folder:
                .folder(
                    PreparedTree(
                        files: try values.decode([PreparedTree.File].self, forKey: .files),
                        folders: try values.decode([RelativePath].self, forKey: .folders)))
            }
        made = Date(timeIntervalSince1970: try values.decode(Double.self, forKey: .made))
        refusal = try values.decodeIfPresent(Refusal.self, forKey: .refused)
        // How one that was never made is recorded; earlier versions say no more of it.
        if shape.size == 0, sha256 == source { refusal?.cause = .making }
    }

    func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: Key.self)
        try values.encode(1, forKey: .format)
        try values.encode(recipe, forKey: .recipe)
        try values.encode(file.name, forKey: .file)
        try values.encode(source, forKey: .sourceSha256)
        try values.encode(shape.size, forKey: .sizeBytes)
        try values.encode(sha256, forKey: .sha256)
        switch shape {
        case .file(_, let modified): try values.encode(modified.timeIntervalSince1970, forKey: .modified)
        case .folder(let tree):
            try values.encode(tree.files, forKey: .files)
            try values.encode(tree.folders, forKey: .folders)
        }
        try values.encode(made.timeIntervalSince1970, forKey: .made)
        try values.encodeIfPresent(refusal, forKey: .refused)
    }
}

extension PreparedRecord.Refusal: Codable {
    private enum CodingKeys: String, CodingKey { case content = "contentSha256", cause, reason }

    init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        self.init(
            of: try values.decode(SHA256Digest.self, forKey: .content),
            in: try values.decodeIfPresent(Cause.self, forKey: .cause) ?? .trial,
            because: try values.decodeIfPresent(String.self, forKey: .reason) ?? "")
    }
}
