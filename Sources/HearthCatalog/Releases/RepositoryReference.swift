import HearthBase

/// A repository that is asked for its releases: of the Hugging Face Hub, or of an OCI registry.
package enum RepositoryReference: Sendable, Hashable {
    case hub(HubReference)
    case registry(RegistryReference)

    /// Reads ``record``; `nil` for the record of another source.
    package init?(record: String) {
        if let hub = HubReference(record: record) {
            self = .hub(hub)
        } else if let registry = RegistryReference(record: record) {
            self = .registry(registry)
        } else {
            return nil
        }
    }

    /// The repository of a reference; `nil` for other references.
    package init?(_ reference: ModelReference?) {
        switch reference {
        case .hub(let hub): self = .hub(hub)
        case .registry(let registry): self = .registry(registry)
        case .family, .manifest, .file, nil: return nil
        }
    }

    /// The repository as a person names it.
    package var reference: ModelReference {
        switch self {
        case .hub(let hub): .hub(hub)
        case .registry(let registry): .registry(registry)
        }
    }

    /// The family of the releases.
    package var family: Family? {
        switch self {
        case .hub(let hub): hub.family
        case .registry(let registry): registry.family
        }
    }

    /// The text of receipts and transfers.
    package var record: String {
        switch self {
        case .hub(let hub): hub.record
        case .registry(let registry): registry.record
        }
    }

    /// The repository at the state that a listing's address ends in: a commit, or the digest of a manifest.
    package func at(_ state: String) -> RepositoryReference? {
        switch self {
        case .hub(let hub): hub.at(state).map { .hub($0) }
        case .registry(let registry): SHA256Digest(tagged: state).map { .registry(registry.at($0)) }
        }
    }
}

/// The text of a repository in receipts and transfers: `[family=]reference`.
enum RepositoryRecord {
    /// Splits a record; the family is `nil` if the record names none.
    /// - Returns: `nil` for a record whose reference does not begin so, or whose family cannot be one.
    static func parts(_ record: String, beginning: String) -> (family: Family?, reference: String)? {
        if record.hasPrefix(beginning) { return (nil, record) }
        let parts = record.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, parts[1].hasPrefix(beginning), let family = Family(parts[0]) else { return nil }
        return (family, String(parts[1]))
    }
}

extension RegistryReference {
    /// Reads ``record``.
    package init?(record: String) {
        guard let (family, text) = RepositoryRecord.parts(record, beginning: Self.scheme),
            let reference = Self(afterScheme: text.dropFirst(Self.scheme.count))
        else { return nil }
        self = reference.named(family)
    }

    /// The text of receipts and transfers: the reference, after the family and `=` if the publisher named one.
    package var record: String { (alias.map { "\($0)=" } ?? "") + description }
}
