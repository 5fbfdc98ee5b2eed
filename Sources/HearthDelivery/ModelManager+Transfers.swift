import Foundation
import HearthBase
import HearthCatalog
import HearthTransfer

extension ModelManager {
    /// Pulls the release of a transfer again, and continues after the received bytes.
    /// - Throws: `TransferControlError` with `not-resumable`; otherwise as `pull`.
    package func pull(
        again plan: TransferPlan, options: PullOptions = PullOptions(),
        progress: @escaping @Sendable (TransferProgress) -> Void = { _ in }
    ) async throws -> PullOutcome {
        let (resolved, options) = try await resolve(again: plan, options: options)
        return try await pull(resolved, options: options, progress: progress)
    }

    /// Resolves the release of a transfer, with the options that its plan remembers.
    ///
    /// The version is that of the transfer, even if a newer one exists. It counts as named if the user named it.
    /// - Throws: `TransferControlError` with `not-resumable`; otherwise as `resolve`.
    package func resolve(
        again plan: TransferPlan, options: PullOptions = PullOptions()
    ) async throws -> (Offer, PullOptions) {
        let purpose = plan.purpose
        guard let purpose, let reference = purpose.reference else {
            throw TransferControlError(
                .notResumable, "the plan of \(plan.label) does not tell which model it belongs to",
                context: ErrorContext(
                    model: purpose?.release.description, file: plan.label,
                    remedy: "Pull the model again: the bytes received are kept."))
        }
        var options = options
        options.activate = options.activate && purpose.activates
        var resolved = try await resolve(reference, options: options)
        resolved.isNamed = resolved.isNamed && purpose.isNamed
        resolved.triesHeldBack = resolved.isNamed
        return (resolved, options)
    }

    /// Continues, after a restart, every transfer that was under way when its process ended.
    ///
    /// A held-back release is not tried again, even if the user named it: its error is `held-back`.
    /// - Returns: the plan of each transfer, with the error of a failed one.
    /// - Throws: `FileError` if the transfers cannot be listed.
    package func restoreTransfers(
        options: PullOptions = PullOptions()
    ) async throws -> [(plan: TransferPlan, error: (any Error)?)] {
        try await transfers.restore { plan in
            var (resolved, options) = try await self.resolve(again: plan, options: options)
            resolved.triesHeldBack = false
            _ = try await self.pull(resolved, options: options)
        }
    }
}

/// The pull that a transfer belongs to, kept as the transfer's tag.
struct TransferPurpose: Sendable, Hashable {
    /// The release that the file belongs to.
    var release: ReleaseIdentity
    /// Whether the release is to become the active one of its family.
    var activates: Bool
    /// Whether a person named the version.
    var isNamed = true
    /// The reference to pull to continue the transfer, `nil` if unknown.
    var reference: ModelReference?

    /// Creates the purpose of a transfer.
    /// - Parameter source: the manifest that describes the release, or the model file itself. User names, passwords and
    ///   queries are left out.
    init(release: ReleaseIdentity, source: URL?, activates: Bool = true) {
        self.release = release
        self.activates = activates
        guard let address = source?.withoutQuery else { return }
        let isFile = source.map { Path($0.path).fileExtension == "gguf" } ?? false
        reference = Self.parse(isFile ? address : "\(address)#\(release)")
    }

    /// Parses a reference by the same rules as one that a person types.
    private static func parse(_ text: String) -> ModelReference? {
        switch try? ModelReference(parsing: text) {
        case .manifest(let url, let family?, let version?, let variant):
            .manifest(url, family: family, version: version, variant: variant)
        case .file(let path): .file(path)
        case .hub(let hub): .hub(hub)
        default: nil
        }
    }

    private var referenceText: String? {
        switch reference {
        case .manifest(let url, _, _, _): "\(url.absoluteString)#\(release)"
        case .file(let path): path.url.absoluteString
        case .hub(let hub): hub.description
        case .family, nil: nil
        }
    }

    /// Whether the reference leads to the release.
    private var isConsistent: Bool {
        switch reference {
        case .manifest(_, let family, let version, let variant):
            family == release.family && version == release.version && variant == release.variant
        case .hub(let hub): hub.family == release.family
        case .file, nil: true
        case .family: false
        }
    }
}

extension TransferPurpose: Codable {
    private enum Key: String, CodingKey { case release, reference, activate, named }

    init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: Key.self)
        release = try values.decode(ReleaseIdentity.self, forKey: .release)
        activates = try values.decode(Bool.self, forKey: .activate)
        isNamed = try values.decode(Bool.self, forKey: .named)
        let text = try values.decodeIfPresent(String.self, forKey: .reference)
        reference = text.flatMap(Self.parse)
        guard (text == nil) == (reference == nil), isConsistent else {
            throw DecodingError.dataCorruptedError(
                forKey: .reference, in: values, debugDescription: "not a reference to the release")
        }
    }

    func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: Key.self)
        try values.encode(release, forKey: .release)
        try values.encodeIfPresent(referenceText, forKey: .reference)
        try values.encode(activates, forKey: .activate)
        try values.encode(isNamed, forKey: .named)
    }

    /// The purpose as text for a transfer's plan.
    var tag: String? {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        // Values of these types always encode. Without a tag, the transfer cannot be continued from its plan.
        return (try? encoder.encode(self)).map { String(decoding: $0, as: UTF8.self) }
    }

    init?(tag: String) {
        // A tag of another caller, or a hostile one: the transfer belongs to no release.
        guard let purpose = try? JSONDecoder().decode(Self.self, from: Data(tag.utf8)) else { return nil }
        self = purpose
    }
}

extension TransferPlan {
    /// The pull that the transfer belongs to, `nil` if an app fetched the file for itself.
    var purpose: TransferPurpose? { tag.flatMap(TransferPurpose.init(tag:)) }
    /// The release that the file belongs to.
    package var release: ReleaseIdentity? { purpose?.release }
    /// The reference to pull to continue the transfer, `nil` if unknown.
    package var reference: ModelReference? { purpose?.reference }
}

extension TransferSummary {
    /// The release that the file belongs to.
    package var release: ReleaseIdentity? { plan?.release }
}

extension [TransferSummary] {
    /// Finds transfers by a key, the beginning of a key, a file name, or a family.
    /// - Throws: `TransferControlError` with `unknown-transfer`, `ambiguous-transfer`.
    package func matching(_ text: String) throws -> [TransferSummary] {
        if let exact = first(where: { $0.key.name == text }) { return [exact] }
        let ofFamily = filter { $0.release?.family.name == text }
        if !ofFamily.isEmpty { return ofFamily }
        let named = filter { $0.plan?.label == text || (text.utf8.count >= 4 && $0.key.name.hasPrefix(text)) }
        guard named.count <= 1 else {
            throw TransferControlError(
                .ambiguousTransfer, "several transfers are called \(text.quoted)",
                context: ErrorContext(
                    found: named.map(\.key.name).joined(separator: ", "),
                    remedy: "Give more of the key: `hearth transfers list --format json` shows it whole."))
        }
        guard let only = named.first else {
            throw TransferControlError(
                .unknownTransfer, "there is no transfer called \(text.quoted)",
                context: ErrorContext(remedy: "See what there is with `hearth transfers list`."))
        }
        return [only]
    }
}
