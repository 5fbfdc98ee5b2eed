import Foundation
import HearthBase

extension ModelManager {
    /// What a collection would remove, what would stay and why. Changes nothing.
    /// - Parameters:
    ///   - budget: the most bytes that releases may take afterwards; `nil` removes only what nobody needs.
    /// - Throws: `FileError`.
    public func collectionPlan(budget: UInt64? = nil) async throws -> CollectionPlan {
        try await store.prepare()
        var facts = try await store.facts()
        for summary in try await transfers.list() {
            guard case .orphaned = summary.state else {
                if let index = facts.members.firstIndex(where: { $0.identity == summary.release }) {
                    facts.members[index].wishes.insert(.incoming)
                }
                continue
            }
            facts.orphans.append(
                CollectionFacts.Remnant(
                    item: .transfer(summary.key), bytes: summary.allocatedBytes, changed: summary.changed))
        }
        for index in facts.members.indices
        where facts.members[index].preparedBytes > 0 && !facts.members[index].wishes.contains(.inUse) {
            guard let release = try await undamaged(facts.members[index].identity) else { continue }
            facts.members[index].outdatedBytes = try await store.outdatedBytes(
                of: release, besides: try await preparedWish(for: release))
        }
        facts.strayCatalogs = try await strayCatalogs()
        return CollectionPlan(facts, budget: budget, now: time.now)
    }

    /// Carries a plan out, in small steps between which others can work. What somebody has come to want since stays.
    /// - Returns: what is gone.
    /// - Throws: `home-busy`, `FileError`, `CancellationError`; what was removed before is gone.
    public func collect(_ plan: CollectionPlan) async throws -> [CollectionPlan.Removal] {
        try await store.collectLeftOvers()
        var done: [CollectionPlan.Removal] = []
        for removal in plan.removals {
            try Task.checkCancellation()
            let isGone: Bool
            switch removal.item {
            case .release(let identity):
                isGone = try await !store.remove([identity], isBudget: removal.reason == .overBudget).isEmpty
                if isGone { hub.post(.removed(identity)) }
            case .prepared(let identity) where removal.reason == .outdated:
                guard let release = try await undamaged(identity) else { continue }
                isGone = try await store.removeOutdated(of: release, besides: try await preparedWish(for: release))
            case .prepared(let identity): isGone = try await store.removeStrayPrepared(identity)
            case .transfer(let key):
                isGone = try await transfers.remove(TransferFolder(key, in: transfers.folder, fileSystem: fileSystem))
                    .isDone
            case .catalog(let name):
                let copies = KeptCatalogs(folder: store.layout.catalogs, fileSystem: fileSystem)
                isGone = try await blocking { try copies.discard(name) }
            }
            if isGone { done.append(removal) }
        }
        return done
    }

    private func undamaged(_ identity: ReleaseIdentity) async throws -> InstalledRelease? {
        do {
            return try await store.installed(identity)
        } catch let error as StoreError where [.receiptDamaged, .releaseDamaged].contains(error.code) {
            return nil
        }
    }

    /// What is made of a release now. Where nobody can say, what was made from the right bytes stays.
    private func preparedWish(for release: InstalledRelease) async throws -> PreparedWish {
        guard let preparer else { return PreparedWish() }
        do {
            return PreparedWish(recipe: try await preparer.recipe(for: release), preparer: preparer)
        } catch {
            try Task.checkCancellation()
            if error is CancellationError { throw error }
            Log.write(.info, "delivery.store", "what was made of \(release.identity) stays: \(error)")
            return PreparedWish()
        }
    }

    /// The copies of catalogs that no configured origin and no installed release came from.
    private func strayCatalogs() async throws -> [CollectionFacts.Remnant] {
        let installed = try await store.inventory().releases.compactMap(\.receipt.originDigest?.hex)
        let folder = store.layout.catalogs
        let copies = KeptCatalogs(folder: folder, fileSystem: fileSystem)
        let wanted = Set(origins.map { copies.place(of: $0.manifestURL).lastComponent } + installed)
        return try await blocking { [fileSystem] in
            guard try fileSystem.status(at: folder, followLinks: false)?.kind == .folder else { return [] }
            return try fileSystem.contents(of: folder).compactMap { name -> CollectionFacts.Remnant? in
                let path = HomeLayout.join(folder, name)
                guard name.utf8.count == 64, !wanted.contains(name),
                    try fileSystem.status(at: path, followLinks: false)?.kind == .folder
                else { return nil }
                let leavings = try copies.leavings(name)
                guard !leavings.isEmpty else { return nil }
                let bytes = try leavings.map { try fileSystem.status(at: $0, followLinks: false)?.size ?? 0 }
                return CollectionFacts.Remnant(item: .catalog(name), bytes: bytes.saturatedSum)
            }
        }
    }
}
