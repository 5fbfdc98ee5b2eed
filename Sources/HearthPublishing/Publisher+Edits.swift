import HearthBase
import HearthCatalog

/// The published releases that an edit of the catalog is about.
package struct ReleaseChoice: Sendable, Hashable, CustomStringConvertible {
    package let family: Family
    /// `nil` for all versions.
    package let version: ReleaseVersion?
    /// `nil` for all variants.
    package let variant: Variant?

    /// Memberwise.
    package init(family: Family, version: ReleaseVersion?, variant: Variant?) {
        self.family = family
        self.version = version
        self.variant = variant
    }

    func contains(_ identity: ReleaseIdentity) -> Bool {
        identity.family == family && (version == nil || identity.version == version)
            && (variant == nil || identity.variant == variant)
    }

    package var description: String {
        family.name + (version.map { "@\($0)" } ?? "") + (variant.map { ":\($0)" } ?? "")
    }
}

/// The result of an edit of the catalog.
package struct EditReport: Sendable, Hashable {
    /// The changed releases; empty if the catalog said so already.
    package let releases: [ReleaseIdentity]
    /// The current version of the family afterwards, `nil` if it has no release.
    package let current: ReleaseVersion?
    /// The catalog's serial number afterwards.
    package let serial: UInt64
    /// The uploads, made or planned.
    package let plan: PublishPlan

    /// Whether the list is signed anew.
    package var isSigned: Bool { plan.steps.contains { $0.kind == .timestamp } }
}

/// A change of the share of devices that a release is offered to.
package enum RolloutChange: Sendable, Hashable {
    /// Offers it to so many of a hundred devices. Devices in at a lower share stay in.
    case percent(Int)
    /// Offers it to no further device, and keeps the share for later.
    case halt
    /// Offers it to the share before the halt.
    case resume
}

/// Changes of the catalog without new files. Files stay until the origin is pruned, since devices may be reading them.
extension Publisher {
    /// Removes releases from the catalog. Devices that have one keep it. If they were removed before and the signed list
    /// still has them, the list is signed.
    /// - Throws: ``PublishingError`` with `not-published`; errors as ``publish(_:progress:)``.
    package func unpublish(_ choice: ReleaseChoice, isDryRun: Bool = false) async throws -> EditReport {
        try await edit(choice, isDryRun: isDryRun, mayBeMissing: true) { _ in nil }
    }

    /// Withdraws releases: devices that use one leave it at their next check, for the newest release that is offered.
    /// - Parameter reason: a line for the people who use it; `nil` offers the releases again.
    /// - Throws: ``PublishingError`` with `not-published`; errors as ``publish(_:progress:)``.
    package func yank(_ choice: ReleaseChoice, reason: String?, isDryRun: Bool = false) async throws -> EditReport {
        try await edit(choice, isDryRun: isDryRun) { entry in
            var entry = entry
            entry["yanked"] = reason.map { .string($0) }
            return entry
        }
    }

    /// Changes the rollout of releases.
    /// - Throws: ``PublishingError`` with `not-published`; errors as ``publish(_:progress:)``.
    package func rollout(
        _ choice: ReleaseChoice, _ change: RolloutChange, isDryRun: Bool = false
    ) async throws -> EditReport {
        try await edit(choice, isDryRun: isDryRun) { entry in
            var entry = entry
            var rollout = entry["rollout"]?.members ?? ["percent": .integer(100)]
            rollout["seed"] = rollout["seed"] ?? .string(Rollout.defaultSeed)
            switch change {
            case .percent(let percent):
                rollout["percent"] = .integer(percent)
                rollout["resumePercent"] = nil
            case .halt where rollout["resumePercent"] == nil:
                rollout["resumePercent"] = rollout["percent"]
                rollout["percent"] = .integer(0)
            case .resume where rollout["resumePercent"] != nil:
                rollout["percent"] = rollout["resumePercent"]
                rollout["resumePercent"] = nil
            case .halt, .resume: return entry
            }
            entry["rollout"] = .object(rollout)
            return entry
        }
    }

    /// - Parameter mayBeMissing: whether releases that the catalog does not list are no error if its list is to be signed.
    private func edit(
        _ choice: ReleaseChoice, isDryRun: Bool, mayBeMissing: Bool = false,
        _ change: (JSONMembers) -> JSONMembers?
    ) async throws -> EditReport {
        var changed: [ReleaseIdentity] = []
        var missing: PublishingError?
        let (manifest, plan) = try await edit(isDryRun: isDryRun) { manifest in
            let published = manifest.catalog.releases.map(\.identity)
            guard published.contains(where: choice.contains) else {
                let error = Self.notPublished(choice, published)
                if !mayBeMissing { throw error }
                missing = error
                return
            }
            changed = try manifest.change(choice.contains, change)
            try manifest.leaveYanked()
        }
        if let missing, plan.steps.isEmpty { throw missing }
        return EditReport(
            releases: changed, current: manifest.catalog.preferredVersion(of: choice.family), serial: manifest.serial,
            plan: plan)
    }

    private static func notPublished(_ choice: ReleaseChoice, _ published: [ReleaseIdentity]) -> PublishingError {
        let own = published.filter { $0.family == choice.family }
        let listed = own.isEmpty ? Set(published.map(\.family.name)).sorted() : own.map(\.description)
        return PublishingError(
            .notPublished, "the origin does not list \(choice)",
            context: ErrorContext(
                model: choice.description, expected: listed.prefix(10).joined(separator: ", "),
                remedy: listed.isEmpty
                    ? "It lists no model at all." : "It lists \(listed.prefix(10).joined(separator: ", "))."))
    }
}
