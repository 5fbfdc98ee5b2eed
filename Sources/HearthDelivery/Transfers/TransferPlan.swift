import Foundation
import HearthBase

/// Which transfer: the name of its folder.
public struct TransferKey: Sendable, Hashable, Comparable, CustomStringConvertible {
    /// The name, safe as a part of a path.
    let component: PathComponent

    /// The 64 digits of the file's SHA-256; `url-` and a hash of the address for a file without one.
    public var name: String { component.name }
    public var description: String { name }

    /// The key of a folder's name, `nil` if no folder of ours can be called that.
    public init?(_ name: some StringProtocol) {
        guard let component = PathComponent(name) else { return nil }
        self.component = component
    }

    /// The key of what is wanted.
    init(_ request: TransferRequest) throws {
        let address = request.locations.first?.withoutQuery ?? request.label
        let name = request.digest?.hex ?? "url-" + SHA256Digest(hashing: Array(address.utf8)).hex
        guard let component = PathComponent(name) else {
            throw FileError(errno: EINVAL, doing: "create", path: Path(name))
        }
        self.component = component
    }

    public static func < (left: Self, right: Self) -> Bool { left.name < right.name }
}

/// What a file is fetched for: what is needed to ask for it again.
public struct TransferPurpose: Sendable, Hashable {
    /// The release it belongs to.
    public var release: ReleaseIdentity
    /// The manifest that describes the release, or the model file itself; without secrets, or `nil`.
    public var source: URL?
    /// Whether the release is to become the active one of its family.
    public var activates: Bool
    /// Whether the user named the version.
    public var isNamed = true
    /// What to pull to get it again, where that is not `source` and the release's name.
    public var reference: ModelReference?

    /// A purpose of the given facts. User names, passwords and queries of `source` are left out where it is written.
    public init(release: ReleaseIdentity, source: URL?, activates: Bool = true) {
        self.release = release
        self.source = source
        self.activates = activates
    }
}

/// What a transfer's folder is for: `transfers/<key>/plan.json`. Holds no secrets: addresses come without query and user.
///
/// ```json
/// { "format": 1, "label": "toy-v1.0.0-q4_1.gguf", "locations": ["https://…/toy-v1.0.0-q4_1.gguf"], "sizeBytes": 98400000,
///   "sha256": "…", "family": "toy", "version": "1.0.0", "variant": "q4_1",
///   "reference": "https://…/models.json#toy@1.0.0:q4_1", "activate": true, "named": false,
///   "created": "2026-11-21T00:00:00Z", "requested": "running" }
/// ```
public struct TransferPlan: Sendable, Hashable {
    /// What people want of a transfer. Whoever runs it looks every half second.
    public enum Wish: String, Sendable, Hashable, Codable {
        case running
        /// Not to be fetched now; its bytes stay.
        case paused
        /// Not wanted any more; its bytes go.
        case cancelled
    }

    static let currentFormat = 1
    /// The largest file that is read, in bytes.
    static let sizeLimit = 1 << 16

    /// The file's name.
    public var label: String
    /// Where it comes from, for people.
    public var locations: [String]
    /// Its length; rounded or `nil` where only the server knows.
    public var size: UInt64?
    public var digest: SHA256Digest?
    /// The release it belongs to, `nil` where an app fetched it for itself.
    public var release: ReleaseIdentity?
    /// What to pull to get it again, `nil` where nobody knows.
    public var reference: ModelReference?
    public var activates: Bool
    /// Whether the user named the version; older programs wrote down nothing of it.
    public var isNamed: Bool
    public var created: Date
    public var wish: Wish

    /// The reference as it is written.
    private var referenceText: String?

    /// The plan of a request.
    init(_ request: TransferRequest, for purpose: TransferPurpose?, at date: Date) {
        label = RelativePath(request.label)?.string ?? "unnamed"
        locations = request.locations.prefix(16).map(\.withoutQuery)
        size = request.size.estimate
        digest = request.digest
        release = purpose?.release
        activates = purpose?.activates ?? true
        isNamed = purpose?.isNamed ?? true
        created = Date(timeIntervalSince1970: date.timeIntervalSince1970.rounded(.down))
        wish = .running
        let text = purpose.flatMap(Self.reference(of:))
        reference = text.flatMap(Self.parse)
        referenceText = reference == nil ? nil : text
    }

    private static func reference(of purpose: TransferPurpose) -> String? {
        if case .hub(let hub) = purpose.reference { return hub.description }
        guard let source = purpose.source else { return nil }
        let address = source.withoutQuery
        return Path(source.path).fileExtension == "gguf" ? address : "\(address)#\(purpose.release)"
    }

    /// Only what a person could have typed: the same rules for addresses hold.
    private static func parse(_ text: String) -> ModelReference? {
        switch try? ModelReference(parsing: text) {
        case .manifest(let url, let family?, let version?, let variant):
            .manifest(url, family: family, version: version, variant: variant)
        case .file(let path): .file(path)
        case .hub(let hub): .hub(hub)
        default: nil
        }
    }
}

extension TransferPlan: DiskRecord {
    private enum Key: String, CodingKey {
        case format, label, locations, sizeBytes, sha256, family, version, variant, reference, activate, named, created,
            requested
    }

    public init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: Key.self)
        func refuse(_ key: Key, _ why: String) -> DecodingError {
            DecodingError.dataCorruptedError(forKey: key, in: values, debugDescription: why)
        }
        guard try values.decode(Int.self, forKey: .format) == Self.currentFormat else {
            throw refuse(.format, "this version reads plans of format 1 only")
        }
        label = try values.decode(String.self, forKey: .label)
        guard RelativePath(label) != nil else { throw refuse(.label, "not the name of a file") }
        locations = try values.decode([String].self, forKey: .locations)
        guard locations.count <= 16 else { throw refuse(.locations, "too many") }
        size = try values.decodeIfPresent(UInt64.self, forKey: .sizeBytes)
        guard size.map({ $0 <= UInt64(Int64.max) }) ?? true else { throw refuse(.sizeBytes, "no file is so large") }
        digest = try values.decodeIfPresent(SHA256Digest.self, forKey: .sha256)
        if let family = try values.decodeIfPresent(Family.self, forKey: .family) {
            release = ReleaseIdentity(
                family: family, version: try values.decode(ReleaseVersion.self, forKey: .version),
                variant: try values.decodeIfPresent(Variant.self, forKey: .variant))
        }
        activates = try values.decodeIfPresent(Bool.self, forKey: .activate) ?? true
        isNamed = try values.decodeIfPresent(Bool.self, forKey: .named) ?? true
        created = try values.decode(Date.self, forKey: .created)
        wish = try values.decode(Wish.self, forKey: .requested)
        referenceText = try values.decodeIfPresent(String.self, forKey: .reference)
        reference = referenceText.flatMap(Self.parse)
        if referenceText != nil, reference == nil { throw refuse(.reference, "not a reference to one release") }
        if case .hub(let hub) = reference, release == nil || release?.family != hub.family {
            throw refuse(.reference, "leads to another release")
        }
        if case .manifest(_, let family, let version, let variant) = reference {
            guard let release, release.family == family, release.version == version, release.variant == variant else {
                throw refuse(.reference, "leads to another release")
            }
        }
    }

    public func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: Key.self)
        try values.encode(Self.currentFormat, forKey: .format)
        try values.encode(label, forKey: .label)
        try values.encode(locations, forKey: .locations)
        try values.encodeIfPresent(size, forKey: .sizeBytes)
        try values.encodeIfPresent(digest, forKey: .sha256)
        try values.encodeIfPresent(release?.family, forKey: .family)
        try values.encodeIfPresent(release?.version, forKey: .version)
        try values.encodeIfPresent(release?.variant, forKey: .variant)
        try values.encodeIfPresent(referenceText, forKey: .reference)
        try values.encode(activates, forKey: .activate)
        try values.encode(isNamed, forKey: .named)
        try values.encode(created, forKey: .created)
        try values.encode(wish, forKey: .requested)
    }
}
