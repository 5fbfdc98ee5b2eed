import Foundation
import HearthBase

/// The releases that a source offers, and the publisher's choice among them.
package struct Catalog: Sendable, Hashable {
    package var releases: [Release]
    /// The version that the publisher chose for a family; it takes precedence over the newest one.
    package var current: [Family: ReleaseVersion]
    /// Never decreases for an origin that the device has seen.
    package var serial: UInt64?
    package var issued: Date?
    /// After this date, no release is installed from the catalog unless the user insists.
    package var expires: Date?
    /// Whether only a newer version replaces another. If not, any other version does: the publisher names the one wanted
    /// version. Used for a hub's revision and the only entry of an unsigned single-model manifest.
    package var isOrdered = true
    /// Models of the Hub by short names; only the catalog of models to begin with has any.
    package var hubModels: [HubModel] = []

    /// A catalog of the given releases.
    package init(releases: [Release], current: [Family: ReleaseVersion] = [:]) {
        self.releases = releases
        self.current = current
    }

    /// The offered families, sorted, each once.
    package var families: [Family] { Set(releases.map(\.identity.family)).sorted() }
}

/// One version and variant of a model, as a source describes it.
public struct Release: Sendable, Hashable {
    public var identity: ReleaseIdentity
    /// The publisher's identifier of the entry.
    public var id: String
    /// The weights, or the archive that holds them.
    package var file: RemoteFile
    /// Further files of the release: projector, shards, labels, tokenizer.
    package var companions: [RemoteFile] = []
    public var role: ModelRole
    public var format: ModelFormat
    /// The name shown to people.
    public var name: String?
    /// The name of the model that the publisher wrote and the family was made of; `nil` if the publisher named the family.
    package var writtenName: String?
    public var summary: String?
    public var license: String?
    public var released: String?
    public var notes: String?
    public var contextLength: Int?
    package var requirements = Requirements()
    public var minimumAppVersion: SemanticVersion?
    /// Whether the publisher recommends the model before the others of its origin.
    package var isRecommended = false
    package var archive: Archive?
    /// The chunk index of ``file``.
    package var index: RemoteFile?
    /// The chunk indexes of companions, by their names in the release folder.
    package var companionIndexes: [RelativePath: RemoteFile] = [:]
    public var rollout: Rollout?
    /// The publisher's reason for withdrawing the release; `nil` for a release that is offered.
    package var yanked: String?
    package var classes: Classes?
    public var trainedOn: String?
    /// The test question that the release must pass before it becomes live; `nil` if the publisher gave none.
    public var canary: Canary?

    /// A release of one file; everything else is absent until set.
    package init(
        identity: ReleaseIdentity, id: String, file: RemoteFile, role: ModelRole = .text, format: ModelFormat = .gguf
    ) {
        self.identity = identity
        self.id = id
        self.file = file
        self.role = role
        self.format = format
    }

    /// The files to download: the weights or their archive first, then the companions outside that archive, then the
    /// list of class labels.
    package var files: [RemoteFile] {
        var files = [file] + (archive == nil ? companions : companions.filter { !$0.locations.isEmpty })
        if let labels = classes?.labels, !files.contains(where: { $0.name == labels.name }) { files.append(labels) }
        return files
    }

    /// The chunk index of one of ``files``, `nil` if the publisher gave none.
    package func index(of file: RemoteFile) -> RemoteFile? {
        file.name == self.file.name ? index : companionIndexes[file.name]
    }

    /// The number of bytes to download, as far as known.
    public var totalSize: UInt64 { files.map(\.size.estimate).saturatedSum }
}

/// A file that a source offers.
package struct RemoteFile: Sendable, Hashable {
    /// The path in the release folder.
    package var name: RelativePath
    package var role: FileRole
    package var size: FileSize
    /// The SHA-256 of the file as downloaded, `nil` if the entry has none.
    package var digest: SHA256Digest?
    /// Git's object ID of the contents, for a hub that gives no SHA-256; checked after the download.
    package var gitBlob: GitBlobID?
    /// Absolute download addresses, the preferred one first.
    package var locations: [URL]
    /// Whether the file is given without a key or a token.
    package var isPublic = true
    /// Paths on this machine that may hold the same bytes; they are hashed before use.
    package var copies: [Path] = []

    /// Whether the entry has a digest to check the bytes with.
    package var isVerifiable: Bool { digest != nil || gitBlob != nil }

    /// A file with the given facts.
    package init(name: RelativePath, role: FileRole = .weights, size: FileSize, digest: SHA256Digest?, locations: [URL])
    {
        self.name = name
        self.role = role
        self.size = size
        self.digest = digest
        self.locations = locations
    }
}

/// The task of a model.
public enum ModelRole: String, Sendable, Hashable, Codable, CaseIterable { case text, vision, classifier }

/// The storage format of a model's weights.
public enum ModelFormat: String, Sendable, Hashable, Codable, CaseIterable {
    case gguf
    /// A folder with `config.json` and `*.safetensors`, as MLX writes it.
    case mlx
    /// A folder with `config.json` and `*.safetensors`, as PyTorch's libraries write it.
    case safetensors
    case onnx, coreml

    /// Whether a release is a folder of `*.safetensors` files with `config.json`.
    package var isSafetensors: Bool { self == .mlx || self == .safetensors }
}

/// The purpose of a release's file.
package enum FileRole: String, Sendable, Hashable, Codable, CaseIterable {
    case weights, projector, shard, labels, tokenizer, index, other

    /// The purpose of a companion by its usual name; `nil` for an unknown name.
    public init?(companionName: String) {
        let name = companionName.lowercased()
        let tokenizers = [
            "vocab.json", "vocab.txt", "merges.txt", "special_tokens_map.json", "added_tokens.json",
        ]
        let others = [
            "config.json", "generation_config.json", "preprocessor_config.json", "processor_config.json",
            "chat_template.jinja", "chat_template.json", "classifier.json", "canary.png", "license", "license.txt",
            "license.md", "readme.md",
        ]
        if name.hasPrefix("tokenizer") || tokenizers.contains(name) {
            self = .tokenizer
        } else if ["labels.txt", "labels.json", "classes.txt", "classes.json"].contains(name) {
            self = .labels
        } else if name.hasSuffix(".gguf"), name.split(whereSeparator: { "-._".contains($0) }).contains("mmproj") {
            self = .projector
        } else if others.contains(name) {
            self = .other
        } else {
            return nil
        }
    }
}

/// The memory and storage that a release needs on a device.
package struct Requirements: Sendable, Hashable {
    package var memoryBytes: UInt64?
    package var storageBytes: UInt64?
}

/// The packing of the downloaded file.
package struct Archive: Sendable, Hashable {
    package var format: ArchiveFormat
    /// The path of the weights in the archive; `nil` if the whole archive is the model.
    package var member: RelativePath?

    /// An archive of the given format.
    package init(format: ArchiveFormat, member: RelativePath? = nil) {
        self.format = format
        self.member = member
    }
}

/// The share of devices that a release is offered to.
public struct Rollout: Sendable, Hashable {
    /// 0 to 100.
    public var percent: Int
    public var seed: String

    /// The seed of publishers who give none.
    package static let defaultSeed = "hearth"

    /// Memberwise.
    public init(percent: Int, seed: String) {
        self.percent = percent
        self.seed = seed
    }
}

/// The classes that a classifier distinguishes.
package struct Classes: Sendable, Hashable {
    package var count: Int?
    package var listVersion: String?
    package var labels: RemoteFile?
    /// The address at which a list may be that the manifest gives no digest of, as in the single-model dialect.
    package var listAddress: URL?
}
