import Foundation
import HearthBase

/// What was installed, from where and when: `receipt.json` in every release folder.
///
/// ```json
/// { "schemaVersion": 1, "family": "lupus-diary", "version": "1.1.0", "variant": "q4_k_m", "role": "text",
///   "format": "gguf", "name": "Lupus Diary", "license": "apache-2.0", "contextLength": 8192,
///   "files": [ { "path": "lupus-diary-v1.1.0-q4_k_m.gguf", "role": "weights", "sizeBytes": 1, "sha256": "…" } ],
///   "origin": "https://…/models.json", "manifestEntry": "lupus-diary-v1.1.0-q4_k_m",
///   "installed": "2026-11-21T10:00:00Z", "verified": true }
/// ```
/// Whatever is read back is checked as if it came from outside: names are safe relative paths, digests are digests.
public struct Receipt: Sendable, Hashable {
    /// One file of the release.
    public struct File: Sendable, Hashable {
        /// Its place in the release folder.
        public let name: RelativePath
        public let role: FileRole
        /// The length in bytes.
        public let size: UInt64
        /// What its bytes hash to.
        public let digest: SHA256Digest
        /// Where it was fetched from, without query and credentials; `nil` for a file from an archive or another release,
        /// and in receipts of older versions.
        public let source: URL?
        /// Its chunk index, for a file beside the weights that has one.
        public var index: Reference?

        /// A file of the given facts.
        public init(name: RelativePath, role: FileRole, size: UInt64, digest: SHA256Digest, source: URL? = nil) {
            self.name = name
            self.role = role
            self.size = size
            self.digest = digest
            self.source = source
        }

        /// Whether two tell of the same bytes in the same place, wherever those came from.
        func isSameContent(as other: File) -> Bool {
            name == other.name && role == other.role && size == other.size && digest == other.digest
        }
    }

    /// A file that belongs to the release's delivery and not to the release: where it is and how it is known.
    public struct Reference: Sendable, Hashable {
        /// Without query and credentials.
        public let source: URL?
        public let size: UInt64
        public let digest: SHA256Digest

        /// A reference of the given facts.
        public init(source: URL?, size: UInt64, digest: SHA256Digest) {
            self.source = source
            self.size = size
            self.digest = digest
        }
    }

    /// What a classifier tells apart, as its publisher says.
    public struct Classes: Sendable, Hashable, Codable {
        /// How many there are.
        public let count: Int?
        /// Which list of them the model was trained with.
        public let listVersion: String?

        /// Classes of the given facts, `nil` where there is none.
        init?(_ classes: HearthDelivery.Classes?) {
            guard let classes, classes.count != nil || classes.listVersion != nil else { return nil }
            count = classes.count
            listVersion = classes.listVersion
        }
    }

    public let identity: ReleaseIdentity
    public let role: ModelRole
    public let format: ModelFormat
    /// The name for people.
    public let name: String?
    public let license: String?
    public let contextLength: Int?
    public let classes: Classes?
    /// When it was trained or on what, in the publisher's words.
    public let trainedOn: String?
    /// What it has to answer before it becomes live, `nil` for anything.
    public let canary: Canary?
    /// Sorted by name, never empty, every name once.
    public let files: [File]
    /// The manifest its updates come from, without query and credentials; `nil` for a local file.
    public private(set) var origin: URL?
    /// Which of several manifests at that place, with other queries, it is: see ``Foundation/URL/addressDigest``.
    public private(set) var originDigest: SHA256Digest?
    /// The publisher's own identifier of the entry.
    public private(set) var manifestEntry: String
    public let installed: Date
    /// Whether every file was compared with a digest from its publisher. `false` only where the user allowed it.
    public var isVerified: Bool

    /// The chunk index of the weights, `nil` where the publisher gave none.
    public let index: Reference?
    /// The archive the release came in, `nil` for plain files.
    public let archive: Reference?

    /// The bytes of all files.
    public var totalSize: UInt64 { files.map(\.size).saturatedSum }

    /// The largest receipt that is read, in bytes.
    static let sizeLimit: UInt64 = 1 << 20

    /// The receipt of a release that is being installed.
    init(
        _ release: Release, files: [File], archive: StagedFile? = nil, isVerified: Bool, origin: URL?, at date: Date
    ) {
        identity = release.identity
        role = release.role
        format = release.format
        name = release.name
        license = release.license
        contextLength = release.contextLength
        classes = Classes(release.classes)
        trainedOn = release.trainedOn
        canary = release.canary
        self.files = files.sorted { $0.name < $1.name }.map { file in
            var file = file
            file.index = release.companionIndexes[file.name].flatMap(Reference.init)
            return file
        }
        self.origin = origin?.withoutSecrets
        originDigest = origin?.addressDigest
        manifestEntry = release.id
        // Whole seconds, as they are written: a receipt equals itself when it is read back.
        installed = Date(timeIntervalSince1970: date.timeIntervalSince1970.rounded(.down))
        self.isVerified = isVerified
        self.archive = archive.map { Reference(source: $0.source, size: $0.size, digest: $0.digest) }
        // An index describes the weights, and those of an archive are not what was indexed.
        index = release.archive == nil ? release.index.flatMap(Reference.init) : nil
    }

    /// The receipt of a release that another manifest lists too, and that follows that one from now on.
    func following(_ origin: URL, entry: String) -> Self {
        var next = self
        next.origin = origin.withoutSecrets
        next.originDigest = origin.addressDigest
        next.manifestEntry = entry
        return next
    }

    /// Why a path cannot be that of a release's file, `nil` if it can.
    static func objection(to path: RelativePath) -> String? {
        if RelativePath(path.components[0]).folded == "receipt.json" { return "the receipt has that name" }
        if path.components.contains(where: { HomeLayout.isTemporary($0.name) }) {
            return "unfinished files have such names"
        }
        return nil
    }
}

extension Receipt: DiskRecord {
    private enum Key: String, CodingKey {
        case schemaVersion, family, version, variant, role, format, name, license, contextLength, classes, trainedOn,
            canary,
            files,
            origin, originDigest, manifestEntry, installed, verified, index, archive
    }

    public init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: Key.self)
        func refuse(_ key: Key, _ why: String) -> DecodingError {
            DecodingError.dataCorruptedError(forKey: key, in: values, debugDescription: why)
        }
        guard try values.decode(Int.self, forKey: .schemaVersion) == 1 else {
            throw refuse(.schemaVersion, "this version reads receipts of schema 1 only")
        }
        identity = ReleaseIdentity(
            family: try values.decode(Family.self, forKey: .family),
            version: try values.decode(ReleaseVersion.self, forKey: .version),
            variant: try values.decodeIfPresent(Variant.self, forKey: .variant))
        role = try values.decode(ModelRole.self, forKey: .role)
        format = try values.decode(ModelFormat.self, forKey: .format)
        name = try values.decodeIfPresent(String.self, forKey: .name)
        license = try values.decodeIfPresent(String.self, forKey: .license)
        contextLength = try values.decodeIfPresent(Int.self, forKey: .contextLength)
        classes = try values.decodeIfPresent(Classes.self, forKey: .classes)
        trainedOn = try values.decodeIfPresent(String.self, forKey: .trainedOn)
        canary = try values.decodeIfPresent(Canary.self, forKey: .canary)
        files = try values.decode([File].self, forKey: .files)
        // Receipts of earlier versions have the query in it.
        let address = try values.decodeIfPresent(String.self, forKey: .origin).flatMap(URL.init(string:))
        origin = address?.withoutSecrets
        originDigest =
            try values.decodeIfPresent(SHA256Digest.self, forKey: .originDigest) ?? address?.addressDigest
        manifestEntry = try values.decode(String.self, forKey: .manifestEntry)
        installed = try values.decode(Date.self, forKey: .installed)
        isVerified = try values.decode(Bool.self, forKey: .verified)
        index = try values.decodeIfPresent(Reference.self, forKey: .index)
        archive = try values.decodeIfPresent(Reference.self, forKey: .archive)

        guard !files.isEmpty else { throw refuse(.files, "a release has at least one file") }
        var names = DistinctPaths()
        for file in files where names.insert(file.name) != nil { throw refuse(.files, "a name occurs twice") }
        if let contextLength, contextLength < 0 { throw refuse(.contextLength, "less than nothing") }
    }

    public func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: Key.self)
        try values.encode(1, forKey: .schemaVersion)
        try values.encode(identity.family, forKey: .family)
        try values.encode(identity.version, forKey: .version)
        try values.encodeIfPresent(identity.variant, forKey: .variant)
        try values.encode(role, forKey: .role)
        try values.encode(format, forKey: .format)
        try values.encodeIfPresent(name, forKey: .name)
        try values.encodeIfPresent(license, forKey: .license)
        try values.encodeIfPresent(contextLength, forKey: .contextLength)
        try values.encodeIfPresent(classes, forKey: .classes)
        try values.encodeIfPresent(trainedOn, forKey: .trainedOn)
        try values.encodeIfPresent(canary, forKey: .canary)
        try values.encode(files, forKey: .files)
        try values.encodeIfPresent(origin?.absoluteString, forKey: .origin)
        if originDigest != origin?.addressDigest { try values.encodeIfPresent(originDigest, forKey: .originDigest) }
        try values.encode(manifestEntry, forKey: .manifestEntry)
        try values.encode(installed, forKey: .installed)
        try values.encode(isVerified, forKey: .verified)
        try values.encodeIfPresent(index, forKey: .index)
        try values.encodeIfPresent(archive, forKey: .archive)
    }
}

extension Receipt.File: Codable {
    private enum Key: String, CodingKey { case path, role, sizeBytes, sha256, url, index }

    public init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: Key.self)
        let path = try values.decode(String.self, forKey: .path)
        guard let name = RelativePath(path), Receipt.objection(to: name) == nil else {
            throw DecodingError.dataCorruptedError(
                forKey: .path, in: values, debugDescription: "not the name of a release's file")
        }
        self.name = name
        // A role that only a later version knows does not keep the others from being used.
        role = FileRole(rawValue: try values.decode(String.self, forKey: .role)) ?? .other
        size = try values.decode(UInt64.self, forKey: .sizeBytes)
        digest = try values.decode(SHA256Digest.self, forKey: .sha256)
        source = try values.decodeIfPresent(String.self, forKey: .url).flatMap(URL.init(string:))
        index = try values.decodeIfPresent(Receipt.Reference.self, forKey: .index)
    }

    public func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: Key.self)
        try values.encode(name, forKey: .path)
        try values.encode(role.rawValue, forKey: .role)
        try values.encode(size, forKey: .sizeBytes)
        try values.encode(digest, forKey: .sha256)
        try values.encodeIfPresent(source?.absoluteString, forKey: .url)
        try values.encodeIfPresent(index, forKey: .index)
    }
}

extension Receipt.Reference: Codable {
    private enum Key: String, CodingKey { case url, sizeBytes, sha256 }

    /// What a manifest says of a file whose length and digest it gives.
    init?(_ file: RemoteFile) {
        guard let size = file.size.exact, let digest = file.digest else { return nil }
        self.init(source: file.locations.first?.withoutSecrets, size: size, digest: digest)
    }

    public init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: Key.self)
        source = try values.decodeIfPresent(String.self, forKey: .url).flatMap(URL.init(string:))
        size = try values.decode(UInt64.self, forKey: .sizeBytes)
        digest = try values.decode(SHA256Digest.self, forKey: .sha256)
    }

    public func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: Key.self)
        try values.encodeIfPresent(source?.absoluteString, forKey: .url)
        try values.encode(size, forKey: .sizeBytes)
        try values.encode(digest, forKey: .sha256)
    }
}

extension URL {
    /// The address without what could open it for somebody else: query, user and password. `nil` where that cannot be told.
    package var withoutSecrets: URL? {
        guard var parts = URLComponents(url: self, resolvingAgainstBaseURL: true) else { return nil }
        guard [parts.user, parts.password, parts.query, parts.fragment].contains(where: { $0 != nil }) else {
            return self
        }
        parts.user = nil
        parts.password = nil
        parts.query = nil
        parts.fragment = nil
        return parts.url
    }

    /// What tells an address apart from others that differ in their query only, without giving it away: the SHA-256 of the
    /// address without user and password.
    var addressDigest: SHA256Digest {
        var parts = URLComponents(url: self, resolvingAgainstBaseURL: true)
        parts?.user = nil
        parts?.password = nil
        return SHA256Digest(hashing: Array((parts?.string ?? absoluteString).utf8))
    }
}
