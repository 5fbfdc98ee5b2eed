import Foundation
import HearthBase
import HearthCatalog

extension ModelStore {
    /// Removes a whole family, or those of its releases that have the given version and variant.
    ///
    /// If the live release is removed and others stay, the previous one becomes live if it is usable; otherwise none is
    /// live. Damaged releases are removed too. If a process uses one of the releases, none is removed.
    /// - Throws: `not-installed`, `release-in-use`, `home-busy`.
    @discardableResult
    package func remove(_ family: Family, version: ReleaseVersion?, variant: Variant?) async throws -> Removal {
        try await prepare()
        return try await committing {
            let all = try directory.releases(of: family)
            let chosen = all.named(version, variant)
            guard !chosen.isEmpty else { throw notInstalled(described(family, version, variant)) }

            let state = try activation.stateBeforeChange(of: family)
            try removeTogether(Set(chosen), of: family, state)
            let next = try activation.state(of: family)

            let active: Removal.Active =
                switch (state.active, next.active) {
                case (let old, let new) where old == new: .unchanged
                case (_, let new?): .restored(new)
                case (_, nil): .cleared
                }
            return Removal(removed: chosen, active: active)
        }
    }

    private func described(_ family: Family, _ version: ReleaseVersion?, _ variant: Variant?) -> String {
        family.name + (version.map { "@\($0)" } ?? "") + (variant.map { ":\($0)" } ?? "")
    }
}
