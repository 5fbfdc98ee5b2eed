import Foundation
import HearthBase
import HearthCatalog

/// Record of an artifact, or of its refusal: `artifact.json`.
///
/// ```json
/// { "format": 1, "recipe": { "engine": "llama.cpp", "engineVersion": "…", "settings": "q4_k_m", … },
///   "sourceSha256": "…", "made": 1800000000, "sizeBytes": 1, "modified": 1800000000.25, "sha256": "…" }
/// ```
/// The record of a refused artifact has no file and instead of the last three fields `refused`, the reason.
package struct ArtifactRecord: Sendable, Hashable {
    /// The name of the record in the folder of its artifact.
    package static let fileName = "artifact.json"
    /// The largest record that is read, in bytes.
    package static let sizeLimit: UInt64 = 1 << 16

    package enum State: Sendable, Hashable {
        /// The built file. While size and date stay the same, its bytes are not read again before it is opened.
        case built(size: UInt64, modified: Date, digest: SHA256Digest)
        /// The reason for the refusal.
        case refused(String)
    }

    package var recipe: Recipe
    /// The digest of the weights it was built from.
    package var source: SHA256Digest
    package var made: Date
    package var state: State

    /// Whether the record is that of an artifact by this recipe from these weights.
    func isResult(of recipe: Recipe, from source: SHA256Digest) -> Bool {
        self.source == source && self.recipe.hasSameResult(as: recipe)
    }

    /// The refusal, `nil` for an artifact in use.
    package func refusal(of release: ReleaseIdentity) -> RefusedArtifact? {
        guard case .refused(let reason) = state else { return nil }
        return RefusedArtifact(release: release, summary: recipe.summary.boundedLine(), reason: reason)
    }
}

extension ArtifactRecord: DiskRecord {
    private enum Key: String, CodingKey {
        case format, recipe, sourceSha256, made, sizeBytes, modified, sha256, refused
    }

    package init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: Key.self)
        func date(_ key: Key) throws -> Date {
            Date(timeIntervalSince1970: try values.decode(Double.self, forKey: key))
        }
        guard try values.decode(Int.self, forKey: .format) == 1 else {
            throw DecodingError.dataCorruptedError(forKey: .format, in: values, debugDescription: "unknown")
        }
        recipe = try values.decode(Recipe.self, forKey: .recipe)
        guard Self.isFileName(recipe.fileName) else {
            throw DecodingError.dataCorruptedError(forKey: .recipe, in: values, debugDescription: "bad file name")
        }
        source = try values.decode(SHA256Digest.self, forKey: .sourceSha256)
        made = try date(.made)
        if let reason = try values.decodeIfPresent(String.self, forKey: .refused)?.boundedLine() {
            state = .refused(reason.allSatisfy(\.isWhitespace) ? "the reason is unknown" : reason)
        } else {
            state = .built(
                size: try values.decode(UInt64.self, forKey: .sizeBytes), modified: try date(.modified),
                digest: try values.decode(SHA256Digest.self, forKey: .sha256))
        }
    }

    package func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: Key.self)
        try values.encode(1, forKey: .format)
        try values.encode(recipe, forKey: .recipe)
        try values.encode(source, forKey: .sourceSha256)
        try values.encode(made.timeIntervalSince1970, forKey: .made)
        switch state {
        case .built(let size, let modified, let digest):
            try values.encode(size, forKey: .sizeBytes)
            try values.encode(modified.timeIntervalSince1970, forKey: .modified)
            try values.encode(digest, forKey: .sha256)
        case .refused(let reason): try values.encode(reason, forKey: .refused)
        }
    }

    /// Whether a name is safe for an artifact's file, and not that of the record or of an unfinished file.
    static func isFileName(_ name: String) -> Bool {
        PathComponent(name) != nil && !HomeLayout.isTemporary(name) && name.lowercased() != fileName
    }
}
