import HearthBase
import HearthDelivery
import HearthInference

/// One model as people choose it: a family, and the release of it that this device has or would get.
///
/// Two infos of one family stand for the same model, whatever their releases: ``id`` is what rows and selections go by.
public struct ModelInfo: Sendable, Hashable, Identifiable {
    /// The release meant.
    public var identity: ReleaseIdentity
    /// The name for people.
    public var displayName: String
    /// What it is good for, in the publisher's words.
    public var summary: String?
    public var role: ModelRole
    public var format: ModelFormat
    /// Whether it understands images: a vision model, or one that comes with a projector.
    public var seesImages: Bool
    /// The bytes of its files.
    public var size: UInt64
    /// The bytes of memory it takes to run, as the publisher says or as estimated from the size.
    public var requiredMemory: UInt64
    /// Whether its publisher promises what its bytes hash to, or they were compared with such a promise.
    public var isVerified: Bool
    /// What to pull to get exactly this release.
    public var reference: ModelReference

    /// The family: what stays the same through all versions.
    public var id: Family { identity.family }

    /// A model of the given facts.
    /// - Parameters:
    ///   - displayName: the family's name unless given.
    ///   - reference: unless given, the release by its name, of whichever origin has it.
    public init(
        identity: ReleaseIdentity, displayName: String? = nil, summary: String? = nil, role: ModelRole = .text,
        format: ModelFormat = .gguf, seesImages: Bool? = nil, size: UInt64, requiredMemory: UInt64,
        isVerified: Bool = true, reference: ModelReference? = nil
    ) {
        self.identity = identity
        self.displayName = displayName ?? identity.family.name
        self.summary = summary
        self.role = role
        self.format = format
        self.seesImages = seesImages ?? (role == .vision)
        self.size = size
        self.requiredMemory = requiredMemory
        self.isVerified = isVerified
        self.reference =
            reference ?? .family(identity.family, version: identity.version, variant: identity.variant)
    }

    /// The size for people: `98.4 MB`.
    public var sizeText: String { ByteCount(size).description }
    /// The memory requirement for people: `1.2 GB RAM`.
    public var memoryText: String { "\(ByteCount(requiredMemory)) RAM" }
}

extension ModelInfo {
    /// The model a source offers as `release`.
    public init(_ release: Release, reference: ModelReference? = nil) {
        let files = [release.file] + release.companions
        self.init(
            identity: release.identity, displayName: release.name, summary: release.summary, role: release.role,
            format: release.format,
            seesImages: release.role == .vision || files.contains { $0.role == .projector },
            size: release.totalSize, requiredMemory: release.requiredMemory,
            isVerified: files.allSatisfy { $0.digest != nil }, reference: reference)
    }

    /// The model that is installed as `release`.
    public init(_ release: InstalledRelease) {
        let receipt = release.receipt
        self.init(
            identity: release.identity, displayName: receipt.name, role: receipt.role, format: receipt.format,
            seesImages: receipt.role == .vision || receipt.files.contains { $0.role == .projector },
            size: receipt.totalSize, requiredMemory: Self.memory(for: receipt.totalSize),
            isVerified: receipt.isVerified)
    }

    /// A receipt does not tell the memory: the estimate is that of a release on offer whose publisher says nothing.
    private static func memory(for size: UInt64) -> UInt64 {
        let estimate = size.addingReportingOverflow(size / 5 + (256 << 20))
        return estimate.overflow ? .max : estimate.partialValue
    }
}

/// What a list shows beside a model's name.
public enum ModelBadge: String, Sendable, Hashable, CaseIterable {
    /// It understands images.
    case vision
    /// The best that this device can run.
    case recommended
    /// The one that is used.
    case active
    /// It came with the app.
    case bundled
    /// Nobody vouches for its bytes.
    case unverified

    /// The word for people.
    public var text: String { rawValue.prefix(1).uppercased() + rawValue.dropFirst() }
}

extension Ineligibility {
    /// The reason in a few words, for a table.
    public var shortText: String {
        switch self {
        case .appTooOld(let version): "needs app \(version)"
        case .notEnoughMemory(let needed): "needs \(ByteCount(needed)) of memory"
        case .noEngine(let format): "no engine for \(format.rawValue)"
        case .notInRollout(let percent): "rollout of \(percent) %"
        case .heldBack: "held back"
        case .bytesHeldBack: "other bytes held back"
        }
    }

    /// The reason for people, as one or two sentences.
    public var message: String { failure.sentence }

    /// The error of somebody who wants such a model all the same.
    public var failure: any HearthFailure {
        switch self {
        case .notEnoughMemory(let needed): ModelLibraryError.insufficientMemory(required: needed)
        case .appTooOld(let needed):
            DeliveryError(.appTooOld, "This model \(reason)", context: ErrorContext(expected: "\(needed)"))
        case .noEngine: LLMError(.engineMissing, "This model \(reason)")
        case .notInRollout, .heldBack, .bytesHeldBack: ModelLibraryError(.modelNotFound, "This model \(reason)")
        }
    }
}

/// What a tap on a model does.
public enum ModelAction: String, Sendable, Hashable, CaseIterable { case download, select }

/// How a model stands: what its row in a list shows.
public enum ModelState: Sendable, Hashable {
    case notDownloaded
    /// Something has to change before bytes may flow; it goes on by itself then.
    case waiting(DownloadHold)
    /// The part done, in [0, 1]; `nil` while the total is unknown. 1 while the bytes are checked and unpacked.
    case downloading(progress: Double?)
    case downloaded
    /// It is here, and its publisher has another version for this device.
    case updateAvailable(ReleaseVersion)
    /// The download ended without a model; the next one works.
    case failed(DownloadFailure)
    /// It is not here, and would not run.
    case incompatible(Ineligibility)

    /// What a tap does, `nil` for nothing.
    public var primaryAction: ModelAction? {
        switch self {
        case .notDownloaded, .failed: .download
        case .downloaded, .updateAvailable: .select
        case .waiting, .downloading, .incompatible: nil
        }
    }
}
