import Foundation
import HearthBase
import HearthCatalog
import HearthStore
import HearthTransfer

/// Frees disk space: unneeded releases, artifacts, partial downloads and cached catalogs.
extension ModelManager {
    /// Plans a collection: what would be removed, what would stay, and why. Changes nothing.
    /// - Parameters:
    ///   - budget: the most bytes that releases may take afterwards; `nil` removes only unneeded items.
    /// - Throws: `FileError`.
    package func collectionPlan(budget: UInt64? = nil) async throws -> CollectionPlan {
        try await store.prepare()
        var facts = try await store.facts()
        for summary in try await transfers.list() {
            guard case .orphaned = summary.state else {
                if let index = facts.members.firstIndex(where: { $0.identity == summary.release }) {
                    facts.members[index].protections.insert(.incoming)
                }
                continue
            }
            facts.orphans.append(
                CollectionFacts.Remnant(
                    item: .transfer(summary.key.name), bytes: summary.allocatedBytes, changed: summary.changed))
        }
        for index in facts.members.indices
        where facts.members[index].preparedBytes > 0 && !facts.members[index].protections.contains(.inUse) {
            guard let release = try await live.undamaged(facts.members[index].identity) else { continue }
            guard case .some(let recipe) = try await recipeInUse(for: release) else { continue }
            facts.members[index].outdatedBytes = try await store.outdatedArtifactBytes(of: release, besides: recipe)
        }
        facts.strayCatalogs = try await strayCatalogs()
        facts.strayStates = try await strayStates()
        return CollectionPlan(facts, budget: budget, now: sources.time.now)
    }

    /// Carries out a plan in small steps, between which other processes can work. Items needed since the plan stay.
    /// - Returns: the removals that were done.
    /// - Throws: `home-busy`, `FileError`, `CancellationError`; earlier removals stay done.
    package func collect(_ plan: CollectionPlan) async throws -> [CollectionPlan.Removal] {
        try await store.clearInterruptedWork()
        var done: [CollectionPlan.Removal] = []
        for removal in plan.removals {
            try Task.checkCancellation()
            let isGone: Bool
            switch removal.item {
            case .release(let identity):
                isGone = try await !store.remove([identity], isBudget: removal.reason == .overBudget).isEmpty
                if isGone { live.events.post(.removed(identity)) }
            case .prepared(let identity) where removal.reason == .outdated:
                guard let release = try await live.undamaged(identity),
                    case .some(let recipe) = try await recipeInUse(for: release)
                else { continue }
                isGone = try await store.removeOutdatedArtifacts(of: release, besides: recipe)
            case .prepared(let identity): isGone = try await store.removeStrayPrepared(identity)
            case .transfer(let name):
                guard let key = TransferKey(name) else { continue }
                isGone = try await transfers.remove(
                    TransferFolder(key, in: transfers.folder, fileSystem: sources.fileSystem)
                )
                .isDone
            case .catalog(let name):
                let copies = CatalogCache(folder: store.layout.catalogs, fileSystem: sources.fileSystem)
                isGone = try await blocking { try copies.discard(name) }
            case .state(let name):
                // A model may have been opened since the plan.
                let isStray = try await strayStates().contains { $0.item == removal.item && $0.bytes == removal.bytes }
                guard isStray else { continue }
                let folder = store.layout.instructionStates.joined(name)
                try await blocking { [fileSystem = sources.fileSystem] in try fileSystem.removeTree(folder) }
                isGone = true
            }
            if isGone { done.append(removal) }
        }
        return done
    }

    /// The error of a full disk, with the bytes that a collection and the removal of unfinished transfers would free.
    /// - Parameter release: the release to fetch, whose own bytes are of use.
    func tellingFreeable(_ error: DeliveryError, besides release: Release) async -> DeliveryError {
        let (pruned, unfinished): (UInt64, UInt64)
        do {
            pruned = try await collectionPlan().freedBytes
            unfinished = try await transfers.list().filter { summary in
                guard !summary.state.isHeld, summary.release != release.identity else { return false }
                // A collection removes these.
                if case .orphaned = summary.state { return false }
                return true
            }.map(\.allocatedBytes).saturatedSum
        } catch let unknown {
            Log.write(.info, "store", "what could be freed is not known: \(unknown)")
            return error
        }
        let parts = [(pruned, "that nothing needs"), (unfinished, "of unfinished transfers")].filter { $0.0 > 0 }
        var context = error.context
        let freeable = parts.map { "\(ByteCount($0.0)) \($0.1)" }.joined(separator: " and ")
        if !parts.isEmpty { context.field = "freeable" }
        context.remedy =
            (parts.isEmpty ? "Hearth keeps nothing that could go. " : "Remove \(freeable). ") + (context.remedy ?? "")
        return DeliveryError(
            error.code, error.message, context: context, disposition: error.disposition, underlying: error.underlying)
    }

    /// The recipe in use for a release, `.some(nil)` if it needs no artifact; `nil` if unknown: all artifacts stay.
    private func recipeInUse(for release: InstalledRelease) async throws -> Recipe?? {
        guard let preparer = device.preparer else { return nil }
        do {
            return .some(try await preparer.recipe(for: release))
        } catch {
            try Task.checkCancellation()
            if error is CancellationError { throw error }
            Log.write(.info, "artifacts", "the artifacts of \(release.identity) stay: \(error)")
            return nil
        }
    }

    /// Cached catalogs that belong to no configured origin and no installed release.
    private func strayCatalogs() async throws -> [CollectionFacts.Remnant] {
        let installed = try await store.inventory().releases.compactMap(\.receipt.originDigest?.hex)
        let folder = store.layout.catalogs
        let copies = CatalogCache(folder: folder, fileSystem: sources.fileSystem)
        let wanted = Set(sources.origins.map(\.key.hex) + installed)
        return try await blocking { [fileSystem = sources.fileSystem] in
            guard try fileSystem.status(at: folder, followLinks: false)?.kind == .folder else { return [] }
            return try fileSystem.contents(of: folder).compactMap { name -> CollectionFacts.Remnant? in
                let path = folder.joined(name)
                guard name.utf8.count == 64, !wanted.contains(name),
                    try fileSystem.status(at: path, followLinks: false)?.kind == .folder
                else { return nil }
                let files = try copies.removableFiles(name)
                guard !files.isEmpty else { return nil }
                let bytes = try files.map { try fileSystem.status(at: $0, followLinks: false)?.size ?? 0 }
                return CollectionFacts.Remnant(item: .catalog(name), bytes: bytes.saturatedSum)
            }
        }
    }

    /// States for weights that are not installed.
    private func strayStates() async throws -> [CollectionFacts.Remnant] {
        let layout = store.layout
        return try await blocking { [fileSystem = sources.fileSystem] in
            guard try fileSystem.status(at: layout.instructionStates, followLinks: false)?.kind == .folder else {
                return []
            }
            let wanted = Set(
                try [layout.models, layout.prepared].flatMap { try fileSystem.files(below: $0) }
                    .map { HomeLayout.stateFolderName(of: $0.path) })
            return try fileSystem.contents(of: layout.instructionStates).compactMap { name in
                let folder = layout.instructionStates.joined(name)
                guard name.utf8.count == 16, !wanted.contains(name),
                    let own = try fileSystem.status(at: folder, followLinks: false), own.kind == .folder
                else { return nil }
                let files = try fileSystem.files(below: folder).map(\.status)
                return CollectionFacts.Remnant(
                    item: .state(name), bytes: files.map(\.size).saturatedSum,
                    changed: ([own] + files).map(\.modified).max())
            }
        }
    }
}

extension FileSystem {
    /// The files below a folder, without following links; none if it does not exist.
    fileprivate func files(below folder: Path) throws -> [(path: Path, status: FileStatus)] {
        guard try status(at: folder, followLinks: false)?.kind == .folder else { return [] }
        let names: [String]
        // Another process may remove the folder meanwhile.
        do { names = try contents(of: folder) } catch let error as FileError where error.code == .notFound { return [] }
        return try names.flatMap { name -> [(path: Path, status: FileStatus)] in
            let path = folder.joined(name)
            guard let status = try status(at: path, followLinks: false) else { return [] }
            return status.kind == .folder ? try files(below: path) : [(path, status)]
        }
    }
}
