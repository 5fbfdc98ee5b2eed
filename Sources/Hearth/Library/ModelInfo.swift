import Foundation
import HearthBase
import HearthCatalog
import HearthDelivery
import HearthInference
import HearthStore
import HearthTransfer

/// A model as users choose it: a family, and the release of it that this device has or would get.
///
/// Infos of one family are the same model, whatever their releases; rows and selections use ``id``.
public struct ModelInfo: Sendable, Hashable, Identifiable {
    /// The release described.
    public var identity: ReleaseIdentity
    /// The name to display.
    public var displayName: String
    /// The publisher's description.
    public var summary: String?
    public var role: ModelRole
    public var format: ModelFormat
    /// Whether the model understands images: a vision model, or one with a projector.
    public var seesImages: Bool
    /// The total size of its files, in bytes.
    public var size: UInt64
    /// The memory needed to run the model, in bytes: the publisher's figure, else that of an installed model as planned for
    /// this device, else an estimate from the size.
    public var requiredMemory: UInt64
    /// The context window of ``requiredMemory`` in tokens; `nil` if the figure is the publisher's or an estimate.
    public private(set) var memoryContextLength: Int?
    /// Whether the publisher declares digests of the files, or the files were compared with such digests.
    public var isVerified: Bool
    /// The reference that pulls exactly this release.
    public var reference: ModelReference
    /// The address of the weights, or of the archive that holds them; `nil` for a model that only this device has.
    public private(set) var downloadURL: URL?
    /// The SHA-256 that the downloaded file must have; `nil` if the publisher gives none.
    public private(set) var sha256: SHA256Digest?
    /// The weights on this device; `nil` for a model that is not here.
    public private(set) var localURL: URL?
    /// The license and the publisher's notes, as far as they are known.
    package var license: String?
    package var notes: String?
    /// The oldest version of an app that may have the release.
    package var minimumAppVersion: SemanticVersion?
    /// Whether the publisher recommends the model.
    package var isRecommended = false
    /// Whether ``requiredMemory`` is the publisher's figure.
    package var isMemoryDeclared = false

    /// The family, which all versions share.
    public var id: Family { identity.family }

    /// A model with the given values.
    /// - Parameters:
    ///   - displayName: by default the family's name.
    ///   - reference: by default the release's family, version and variant, from any origin.
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

    /// The size to display: `98.4 MB`.
    public var sizeText: String { ByteCount(size).description }
    /// The memory requirement to display: `1.2 GB RAM`.
    public var memoryText: String { "\(ByteCount(requiredMemory)) RAM" }

    /// Takes the memory as planned for this device, unless the publisher gives a figure.
    mutating func take(_ memory: ReleaseMemory) {
        guard !isMemoryDeclared else { return }
        (requiredMemory, memoryContextLength) = (memory.bytes, memory.contextLength)
    }

    /// The info of the same release as a source offers it, with its place here and the better figure of the memory.
    func offered(beside local: ModelInfo) -> ModelInfo {
        var info = self
        guard identity == local.identity.published else { return info }
        info.localURL = local.localURL
        guard !isMemoryDeclared else { return info }
        (info.requiredMemory, info.memoryContextLength) = (local.requiredMemory, local.memoryContextLength)
        return info
    }
}

extension ModelInfo {
    /// The model of a release that a source offers.
    public init(_ release: Release, reference: ModelReference? = nil) {
        let files = [release.file] + release.companions
        self.init(
            identity: release.identity, displayName: release.name, summary: release.summary, role: release.role,
            format: release.format,
            seesImages: release.role == .vision || files.contains { $0.role == .projector },
            size: release.totalSize, requiredMemory: release.requiredMemory,
            isVerified: files.allSatisfy { $0.digest != nil }, reference: reference)
        (license, notes) = (release.license, release.notes)
        (minimumAppVersion, isRecommended) = (release.minimumAppVersion, release.isRecommended)
        isMemoryDeclared = release.declaredMemory != nil
        (downloadURL, sha256) = (release.file.locations.first, release.file.digest)
    }

    /// The model of an installed release.
    public init(_ release: InstalledRelease) {
        let receipt = release.receipt
        self.init(
            identity: release.identity, displayName: receipt.name, summary: receipt.summary, role: receipt.role,
            format: receipt.format,
            seesImages: receipt.role == .vision || receipt.files.contains { $0.role == .projector },
            size: receipt.totalSize, requiredMemory: receipt.memoryBytes ?? Self.memory(for: receipt.totalSize),
            isVerified: receipt.isVerified)
        license = receipt.license
        (minimumAppVersion, isRecommended) = (receipt.minimumAppVersion, receipt.isRecommended)
        isMemoryDeclared = receipt.memoryBytes != nil
        (sha256, localURL) = (receipt.weights?.digest, release.weights?.url)
    }

    /// A model of the catalog: its size and its memory are estimates.
    init(_ suggested: SuggestedModel) {
        let model = suggested.model
        self.init(
            identity: ReleaseIdentity(
                family: model.family, version: ReleaseVersion(SemanticVersion(0, 0, 0)),
                variant: suggested.quantization.variant),
            displayName: model.name, summary: model.summary, seesImages: model.kind == .vision,
            size: suggested.size, requiredMemory: Self.memory(for: suggested.size),
            reference: .family(model.family, version: nil, variant: nil))
        license = model.license
    }

    /// The estimate for releases whose publisher gives no memory requirement.
    static func memory(for size: UInt64) -> UInt64 {
        let estimate = size.addingReportingOverflow(size / 5 + (256 << 20))
        return estimate.overflow ? .max : estimate.partialValue
    }
}

/// Labels beside a model's name.
public enum ModelBadge: String, Sendable, Hashable, CaseIterable {
    /// The model understands images.
    case vision
    /// The best model that this device can run.
    case recommended
    /// The selected model.
    case active
    /// The model came with the app.
    case bundled
    /// The publisher declares no digests of the files.
    case unverified

    /// The label to display.
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
        case .yanked: "withdrawn"
        }
    }

    /// The reason in one or two sentences.
    public var message: String { failure.sentence }

    /// The error for a request of such a model.
    public var failure: any HearthFailure {
        switch self {
        case .notEnoughMemory(let needed): ModelLibraryError.insufficientMemory(required: needed)
        case .appTooOld(let needed):
            DeliveryError(.appTooOld, "This model \(reason)", context: ErrorContext(expected: "\(needed)"))
        case .noEngine: LLMError(.engineMissing, "This model \(reason)")
        case .notInRollout, .heldBack, .yanked: ModelLibraryError(.modelNotFound, "This model \(reason)")
        }
    }
}

/// The action of a tap on a model.
public enum ModelAction: String, Sendable, Hashable, CaseIterable { case download, select }

/// The state of a model, as its row in a list shows it.
public enum ModelState: Sendable, Hashable {
    case notDownloaded
    /// Waits for a condition to change, then continues without a new request.
    case waiting(DownloadHold)
    /// The completed part, 0...1; `nil` if the total is unknown. 1 during verification and unpacking.
    case downloading(progress: Double?)
    case downloaded
    /// On the device, and an update is available.
    case updateAvailable(ReleaseVersion)
    /// The download failed; it can be started again.
    case failed(FailureBody)
    /// This device cannot run it, or may not have it. The model may be on the device all the same.
    case incompatible(Ineligibility)

    /// The action of a tap, `nil` if a tap does nothing.
    public var primaryAction: ModelAction? {
        switch self {
        case .notDownloaded, .failed: .download
        case .downloaded, .updateAvailable: .select
        case .waiting, .downloading, .incompatible: nil
        }
    }
}
