import Foundation
import HearthBase

/// The pull that a transfer belongs to, kept as the transfer's tag.
package struct TransferPurpose: Sendable, Hashable, Codable {
    private enum CodingKeys: String, CodingKey {
        case release, text = "reference", activates = "activate", isNamed = "named"
    }

    /// The release that the file belongs to.
    package let release: ReleaseIdentity
    /// Whether the release is to become the active one of its family.
    package let activates: Bool
    /// Whether a person named the version.
    package let isNamed: Bool
    /// The text of ``reference``.
    private var text: String?

    /// Creates the purpose of a transfer.
    /// - Parameters:
    ///   - source: the manifest that describes the release, or the model file itself. User names, passwords and queries
    ///     are left out.
    ///   - repository: the repository of a release from a hub or a registry.
    package init(
        release: ReleaseIdentity, source: URL?, repository: RepositoryReference? = nil, activates: Bool = true,
        isNamed: Bool = true
    ) {
        self.release = release
        self.activates = activates
        self.isNamed = isNamed
        let isFile = source.map { Path($0.path).fileExtension == "gguf" } ?? false
        let address = source?.withoutSecrets?.absoluteString
        text = repository?.record ?? address.map { isFile ? $0 : "\($0)#\(release)" }
        if reference == nil { text = nil }
    }

    /// The reference to pull to continue the transfer, `nil` if unknown. Its text is parsed by the same rules as one that
    /// a person types, and leads to the release.
    package var reference: ModelReference? {
        guard let text else { return nil }
        if let repository = RepositoryReference(record: text) {
            return repository.family == release.family ? repository.reference : nil
        }
        // A transfer without a readable reference is named by its release alone.
        guard let reference = try? ModelReference(parsing: text) else { return nil }
        switch reference {
        case .manifest(_, release.family, release.version, release.variant), .file: return reference
        case .manifest, .family, .hub, .registry: return nil
        }
    }

    /// The purpose as text for a transfer's plan.
    package var tag: String? {
        // Values of these types always encode. Without a tag, the transfer cannot be continued from its plan.
        return try? JSON.text(self)
    }

    /// Reads the tag of a transfer; `nil` for a tag of another caller, or a hostile one.
    package init?(tag: String) {
        guard let purpose = try? JSON.value(Self.self, Data(tag.utf8)),
            purpose.text == nil || purpose.reference != nil
        else { return nil }
        self = purpose
    }
}
