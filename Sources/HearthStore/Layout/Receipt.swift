import Foundation
import HearthBase
import HearthCatalog

/// Record of an installed release, in its folder as `receipt.json`: files, digests, origin and date.
///
/// ```json
/// { "schemaVersion": 1, "family": "lupus-diary", "version": "1.1.0", "variant": "q4_k_m", "role": "text",
///   "format": "gguf", "name": "Lupus Diary", "summary": "…", "license": "apache-2.0", "contextLength": 8192,
///   "memoryBytes": 2000000000, "minAppVersion": "1.2.0", "recommended": true,
///   "files": [ { "path": "lupus-diary-v1.1.0-q4_k_m.gguf", "role": "weights", "sizeBytes": 1, "sha256": "…" } ],
///   "origin": "https://…/models.json", "manifestEntry": "lupus-diary-v1.1.0-q4_k_m",
///   "installed": "2026-11-21T10:00:00Z", "verified": true }
/// ```
/// Every value is checked when it is read: names must be safe relative paths, and digests must be digests.
public struct Receipt: DiskRecord, Sendable, Hashable {
    /// One file of the release.
    package struct File: Sendable, Hashable {
        /// Its place in the release folder.
        package let name: RelativePath
        package let role: FileRole
        /// The length in bytes.
        package let size: UInt64
        /// The digest of its bytes.
        package let digest: SHA256Digest
        /// The download URL, without query and credentials; `nil` for a file from an archive or another release.
        package var source: URL?
        /// Its chunk index, `nil` for the weights and for files without one.
        package var index: Reference?

        /// Whether two files have the same place and bytes, whatever their source.
        func isSameContent(as other: File) -> Bool {
            name == other.name && role == other.role && size == other.size && digest == other.digest
        }
    }

    /// A file that is needed to fetch the release but is not part of it, such as a chunk index.
    package struct Reference: Sendable, Hashable {
        /// The download URL, without query and credentials.
        package let source: URL?
        package let size: UInt64
        package let digest: SHA256Digest
    }

    /// Number and list of a classifier's classes, as its publisher gives them.
    package struct Classes: Sendable, Hashable, Codable {
        /// The number of classes.
        package let count: Int?
        /// The version of the list that the model was trained with.
        package let listVersion: String?

        /// The classes of a catalog entry, `nil` if it has none.
        init?(_ classes: HearthCatalog.Classes?) {
            guard let classes, classes.count != nil || classes.listVersion != nil else { return nil }
            count = classes.count
            listVersion = classes.listVersion
        }
    }

    public var identity: ReleaseIdentity {
        ReleaseIdentity(family: family, version: version, variant: variant, content: contentTag)
    }
    private var schemaVersion = 1
    private let family: Family
    private let version: ReleaseVersion
    private let variant: Variant?
    private var contentTag: ContentTag?
    public let role: ModelRole
    public let format: ModelFormat
    /// The name for people.
    public let name: String?
    /// The name that the family was made of: the publisher's, or that of a local file.
    package let writtenName: String?
    /// The publisher's description.
    public let summary: String?
    public let license: String?
    public let contextLength: Int?
    /// The publisher's own figure of the memory in bytes; `nil` for none.
    package let memoryBytes: UInt64?
    private let minAppVersion: String?
    /// The oldest version of an app that may have it.
    package var minimumAppVersion: SemanticVersion? { minAppVersion.flatMap { SemanticVersion($0) } }
    private let recommended: Bool?
    /// Whether the publisher recommends the model.
    package var isRecommended: Bool { recommended == true }
    package let classes: Classes?
    /// The date or the data of its training, in the publisher's words.
    public let trainedOn: String?
    /// The question it has to answer before it becomes live; `nil` accepts any answer.
    public let canary: Canary?
    /// Sorted by name, never empty, no name twice.
    package let files: [File]
    /// The manifest of its updates, without query and credentials; `nil` for a local file.
    public private(set) var origin: URL?
    /// The key of the origin: see `Origin.key`.
    public private(set) var originDigest: SHA256Digest?
    /// The publisher's identifier of the manifest entry.
    public private(set) var manifestEntry: String
    public let installed: Date
    /// Whether every file was compared with a digest from its publisher; `false` only if the user allowed it.
    public var isVerified: Bool

    /// The chunk index of the weights, `nil` where the publisher gave none.
    package let index: Reference?
    /// The archive that contained the release, `nil` for plain files.
    package let archive: Reference?

    /// The file an engine opens, `nil` for a release without one.
    package var weights: File? { files.first { $0.role == .weights } }

    /// The bytes of all files.
    public var totalSize: UInt64 { files.map(\.size).saturatedSum }

    /// The largest receipt that is read, in bytes.
    package static let sizeLimit: UInt64 = 1 << 20

    /// The receipt of a release that is being installed.
    init(
        _ release: Release, files: [File], archive: StagedFile? = nil, isVerified: Bool, origin: Origin?, at date: Date
    ) {
        (family, version) = (release.identity.family, release.identity.version)
        (variant, contentTag) = (release.identity.variant, release.identity.content)
        role = release.role
        format = release.format
        name = release.name
        writtenName = release.writtenName
        summary = release.summary
        license = release.license
        contextLength = release.contextLength
        memoryBytes = release.declaredMemory
        minAppVersion = release.minimumAppVersion?.description
        recommended = release.isRecommended ? true : nil
        classes = Classes(release.classes)
        trainedOn = release.trainedOn
        canary = release.canary
        self.files = files.sorted { $0.name < $1.name }.map { file in
            var file = file
            file.index = release.companionIndexes[file.name].flatMap(Reference.init)
            return file
        }
        self.origin = origin?.manifestURL.withoutSecrets
        originDigest = origin?.key
        manifestEntry = release.id
        // Whole seconds, as they are written: a receipt equals itself when it is read back.
        installed = Date(timeIntervalSince1970: date.timeIntervalSince1970.rounded(.down))
        self.isVerified = isVerified
        self.archive = archive.map { Reference(source: $0.source, size: $0.size, digest: $0.digest) }
        // An index describes plain weights; the index of a release in an archive does not fit the unpacked file.
        index = release.archive == nil ? release.index.flatMap(Reference.init) : nil
    }

    /// The digest of the release's contents: names, lengths and digests of its files.
    package var content: SHA256Digest { SHA256Digest(listing: files.map { ($0.name, $0.size, $0.digest) }) }

    /// Whether two receipts list the same bytes in the same places.
    func isSameContent(as other: Receipt) -> Bool {
        guard identity == other.identity, files.count == other.files.count else { return false }
        return zip(files.sorted { $0.name < $1.name }, other.files.sorted { $0.name < $1.name })
            .allSatisfy { $0.isSameContent(as: $1) }
    }

    /// The receipt with the identity that the release gets on this device.
    package func named(_ identity: ReleaseIdentity) -> Self {
        var next = self
        next.contentTag = identity.content
        return next
    }

    /// The receipt with another manifest, which lists the same release and gives its updates from now on.
    func following(_ origin: Origin, entry: String) -> Self {
        var next = self
        next.origin = origin.manifestURL.withoutSecrets
        next.originDigest = origin.key
        next.manifestEntry = entry
        return next
    }
}

extension Receipt {
    private enum CodingKeys: String, CodingKey {
        case schemaVersion, family, version, variant, role, format, name, writtenName, summary, license, contextLength,
            classes
        case memoryBytes, minAppVersion, recommended, trainedOn, canary, files, origin, originDigest, manifestEntry,
            installed, index, archive
        case contentTag = "content"
        case isVerified = "verified"
    }

    /// Reads a receipt, and checks its values.
    package init(data: Data) throws {
        self = try JSON.value(Self.self, data)
        origin = origin?.withoutSecrets
        guard schemaVersion == 1 else { throw DecodingError.damaged("unknown schema \(schemaVersion)") }
        guard !files.isEmpty else { throw DecodingError.damaged("a release has at least one file") }
        var names = DistinctPaths()
        for file in files where names.insert(file.name) != nil { throw DecodingError.damaged("a name occurs twice") }
        if let contentTag, contentTag != ContentTag(of: content) {
            throw DecodingError.damaged("the tag is not that of its files")
        }
        if let contextLength, contextLength < 0 { throw DecodingError.damaged("a context of less than nothing") }
    }
}

extension DecodingError {
    /// A record of the store that holds what it cannot.
    static func damaged(_ why: String) -> Self { .dataCorrupted(Context(codingPath: [], debugDescription: why)) }
}

extension Receipt.File: Codable {
    private enum CodingKeys: String, CodingKey {
        case name = "path"
        case role
        case size = "sizeBytes"
        case digest = "sha256"
        case source = "url"
        case index
    }

    package init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        name = try values.checked(.name, or: "not the name of a release's file") { $0.reservation == nil }
        // A role that only a later version knows becomes `other`, so that the release stays usable.
        role = FileRole(rawValue: try values.decode(String.self, forKey: .role)) ?? .other
        size = try values.decode(UInt64.self, forKey: .size)
        digest = try values.decode(SHA256Digest.self, forKey: .digest)
        source = try values.decodeIfPresent(String.self, forKey: .source).flatMap {
            URL(string: $0, encodingInvalidCharacters: false)
        }
        index = try values.decodeIfPresent(Receipt.Reference.self, forKey: .index)
    }
}

extension Receipt.Reference: Codable {
    private enum CodingKeys: String, CodingKey {
        case source = "url"
        case size = "sizeBytes"
        case digest = "sha256"
    }

    /// A reference to a manifest's file, if the manifest gives its length and digest.
    init?(_ file: RemoteFile) {
        guard let size = file.size.exact, let digest = file.digest else { return nil }
        self.init(source: file.locations.first?.withoutSecrets, size: size, digest: digest)
    }
}
