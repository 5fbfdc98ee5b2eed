import Foundation
import HearthBase

/// What a source offers: every release it has, and which of them its publisher wants used.
public struct Catalog: Sendable, Hashable {
    public var releases: [Release]
    /// The version the publisher chose for a family; it wins over "newest".
    public var current: [Family: ReleaseVersion]
    /// Never goes down for an origin the device has seen.
    public var serial: UInt64?
    public var issued: Date?
    /// After this moment nothing new is installed from the catalog unless the user insists.
    public var expires: Date?
    /// What "newer" means here.
    public var versionRule: VersionRule

    /// A catalog of the given releases.
    public init(
        releases: [Release], current: [Family: ReleaseVersion] = [:], serial: UInt64? = nil, issued: Date? = nil,
        expires: Date? = nil
    ) {
        self.releases = releases
        self.current = current
        self.serial = serial
        self.issued = issued
        self.expires = expires
        versionRule = .ordered
    }

    /// The families on offer, each once, in order.
    public var families: [Family] { Set(releases.map(\.identity.family)).sorted() }
}

/// When a catalog's version is wanted in place of another.
public enum VersionRule: Sendable, Hashable {
    /// When it is newer; an older one only if somebody asks for it.
    case ordered
    /// When it is another: the publisher names one version, and that is the one, as a hub's revision is and the only entry of
    /// an unsigned single-model manifest.
    case different
}

/// One version and variant of a model, as a source describes it.
public struct Release: Sendable, Hashable {
    public var identity: ReleaseIdentity
    /// The publisher's own identifier of the entry.
    public var id: String
    /// The weights, or the archive that holds them.
    public var file: RemoteFile
    /// Files that belong to the release beside the weights: projector, shards, labels, tokenizer.
    public var companions: [RemoteFile]
    public var role: ModelRole
    public var format: ModelFormat
    /// The name for people.
    public var name: String?
    public var summary: String?
    public var license: String?
    public var released: String?
    public var notes: String?
    public var contextLength: Int?
    public var requirements: Requirements
    public var minimumAppVersion: SemanticVersion?
    public var archive: Archive?
    /// The chunk index of ``file``.
    public var index: RemoteFile?
    /// The chunk indexes of companions, by their names in the release folder.
    public var companionIndexes: [RelativePath: RemoteFile]
    public var rollout: Rollout?
    public var classes: Classes?
    public var trainedOn: String?
    /// What it has to answer before it becomes live, `nil` for anything.
    public var canary: Canary?

    /// A release of one file; everything else is absent until set.
    public init(
        identity: ReleaseIdentity, id: String, file: RemoteFile, role: ModelRole = .text, format: ModelFormat = .gguf
    ) {
        self.identity = identity
        self.id = id
        self.file = file
        companions = []
        companionIndexes = [:]
        self.role = role
        self.format = format
        requirements = Requirements()
    }

    /// Every file that comes over: the weights or their archive first, then the companions that are not in that archive, and
    /// the list of classes, which belongs to the model as its tokenizer does.
    public var files: [RemoteFile] {
        var files = [file] + (archive == nil ? companions : companions.filter { !$0.locations.isEmpty })
        if let labels = classes?.labels, !files.contains(where: { $0.name == labels.name }) { files.append(labels) }
        return files
    }

    /// The chunk index of one of ``files``, `nil` where its publisher gave none.
    public func index(of file: RemoteFile) -> RemoteFile? {
        file.name == self.file.name ? index : companionIndexes[file.name]
    }

    /// The bytes to be fetched, as far as they are known.
    public var totalSize: UInt64 { files.map(\.size.estimate).saturatedSum }
}

/// A file a source offers.
public struct RemoteFile: Sendable, Hashable {
    /// Its place in the release folder.
    public var name: RelativePath
    public var role: FileRole
    public var size: FileSize
    /// The digest of the file as downloaded, `nil` for an entry without one.
    public var digest: SHA256Digest?
    /// What git calls the contents, where a hub gives no digest: checked after the file has arrived.
    public var gitBlob: GitBlobID?
    /// Where to get it: absolute, the preferred place first.
    public var locations: [URL]
    /// Where on this machine the same bytes may lie; they are hashed before they are taken.
    public var copies: [Path]

    /// Whether there is something to compare its bytes with.
    public var isVerifiable: Bool { digest != nil || gitBlob != nil }

    /// A file of the given facts.
    public init(name: RelativePath, role: FileRole = .weights, size: FileSize, digest: SHA256Digest?, locations: [URL])
    {
        self.name = name
        self.role = role
        self.size = size
        self.digest = digest
        self.locations = locations
        copies = []
    }
}

/// What is known of a file's length before it is fetched.
public enum FileSize: Sendable, Hashable {
    case exact(UInt64)
    /// A rounded figure for progress, and the most that will be accepted.
    case about(UInt64, limit: UInt64)

    /// The exact or rounded length.
    public var estimate: UInt64 {
        switch self {
        case .exact(let size), .about(let size, _): size
        }
    }

    /// The most bytes that will be accepted.
    public var limit: UInt64 {
        switch self {
        case .exact(let size), .about(_, let size): size
        }
    }

    /// The exact length, if it is known.
    public var exact: UInt64? {
        if case .exact(let size) = self { size } else { nil }
    }
}

/// What a model is for.
public enum ModelRole: String, Sendable, Hashable, Codable, CaseIterable { case text, vision, classifier }

/// How a model's weights are stored.
public enum ModelFormat: String, Sendable, Hashable, Codable, CaseIterable { case gguf, mlx, onnx, coreml }

/// What a file of a release is for.
public enum FileRole: String, Sendable, Hashable, Codable, CaseIterable {
    case weights, projector, shard, labels, tokenizer, index, other

    /// What a file beside the weights is for, by its name as tools write it; `nil` for a name that does not tell.
    public init?(companionName: String) {
        let name = companionName.lowercased()
        let tokenizers = [
            "vocab.json", "vocab.txt", "merges.txt", "special_tokens_map.json", "added_tokens.json",
        ]
        let others = [
            "config.json", "generation_config.json", "preprocessor_config.json", "processor_config.json",
            "chat_template.jinja", "chat_template.json", "license", "license.txt", "license.md", "readme.md",
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

/// What a release needs of the device.
public struct Requirements: Sendable, Hashable {
    public var memoryBytes: UInt64?
    public var storageBytes: UInt64?

    /// No requirements unless given.
    public init(memoryBytes: UInt64? = nil, storageBytes: UInt64? = nil) {
        self.memoryBytes = memoryBytes
        self.storageBytes = storageBytes
    }
}

/// How the downloaded file is packed.
public struct Archive: Sendable, Hashable {
    public var format: ArchiveFormat
    /// The path of the weights inside, `nil` when the whole archive is the model.
    public var member: RelativePath?

    /// An archive of the given format.
    public init(format: ArchiveFormat, member: RelativePath? = nil) {
        self.format = format
        self.member = member
    }
}

/// The share of devices a release is offered to.
public struct Rollout: Sendable, Hashable {
    /// 0 to 100.
    public var percent: Int
    public var seed: String

    /// A rollout to that share.
    public init(percent: Int, seed: String) {
        self.percent = percent
        self.seed = seed
    }
}

/// What a classifier tells apart.
public struct Classes: Sendable, Hashable {
    public var count: Int?
    public var listVersion: String?
    public var labels: RemoteFile?

    /// Classes of the given facts.
    public init(count: Int? = nil, listVersion: String? = nil, labels: RemoteFile? = nil) {
        self.count = count
        self.listVersion = listVersion
        self.labels = labels
    }
}
