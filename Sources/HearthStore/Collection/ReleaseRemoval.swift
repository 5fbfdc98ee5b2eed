import Foundation
import HearthBase
import HearthCatalog

/// Removes releases and their artifacts, and collects the facts for that. Blocks; removals run under the commit lock.
extension StoreHome {
    /// Removes the releases of a family that have the given version and variant. If a process uses one of them, none is
    /// removed.
    func remove(_ family: Family, version: ReleaseVersion?, variant: Variant?) throws -> Removal {
        let all = try directory.releases(of: family)
        let chosen = all.named(version, variant)
        guard !chosen.isEmpty else { throw StoreError.notInstalled(family, version, variant) }

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

    /// Removes a release, unless a reason to keep it has appeared since it was chosen.
    func removeUnneeded(_ identity: ReleaseIdentity, isBudget: Bool) throws -> Bool {
        guard try directory.isFolder(layout.folder(of: identity)) else { return false }
        let facts = try facts(of: [identity.family])
        guard let member = facts.members.first(where: { $0.identity == identity }) else { return false }
        let reasons = CollectionPlan.reasons(for: member, facts)
        guard isBudget ? !reasons.contains(where: \.isBinding) : reasons.isEmpty else { return false }
        let state = try activation.stateBeforeChange(of: identity.family)
        do {
            try removeTogether([identity], of: identity.family, state)
        } catch let error as StoreError where error.code == .releaseInUse {
            Log.write(.info, "\(identity) stays: \(error.message)")
            return false
        }
        return true
    }

    /// Removes the artifacts of a release if it is still not installed.
    func removeStrayPrepared(_ identity: ReleaseIdentity) throws -> Bool {
        guard try isStray(identity) else { return false }
        try fileSystem.removeTree(layout.preparedFolder(of: identity))
        return true
    }

    /// Removes what interrupted processes left, outside a start.
    func clearInterruptedWork() throws {
        try InterruptedWork(layout: layout, fileSystem: fileSystem).clear()
        for family in try marks.families() { try marks.tidy(family) }
        for family in try directory.families() { try artifacts.sweep(family) }
    }

    /// Collects the facts about families; `nil` for all of them.
    func facts(of wanted: [Family]? = nil) throws -> CollectionFacts {
        var facts = CollectionFacts()
        for family in try wanted ?? directory.families().sorted() {
            let state = try activation.state(of: family)
            facts.active[family] = state.active
            let incoming = try incoming(family)
            for identity in try directory.releases(of: family) {
                var member = CollectionFacts.Member(identity: identity, protections: state.protections(of: identity))
                if try !leases.holders(of: identity).isEmpty { member.protections.insert(.inUse) }
                if incoming.contains(identity.folderName) { member.protections.insert(.incoming) }
                if case .whole(let receipt) = try directory.find(identity) { member.lastUsed = receipt.installed }
                if let used = try leases.lastUse(of: identity) { member.lastUsed = max(member.lastUsed, used) }
                member.preparedBytes = try bytes(below: layout.preparedFolder(of: identity))
                facts.members.append(member)
            }
        }
        facts.owners = try owners(of: facts.members.map(\.identity))
        if wanted == nil { facts.strayPrepared = try strayPrepared() }
        return facts
    }

    /// The folder names of releases that a process is installing.
    private func incoming(_ family: Family) throws -> Set<String> {
        let folder = layout.folder(of: family)
        var names: Set<String> = []
        for name in try directory.names(in: folder) where HomeLayout.isTemporary(name) {
            guard let mark = name.range(of: Path.temporaryMark),
                try directory.isFolder(folder.joined(name))
            else { continue }
            names.insert(String(name[..<mark.lowerBound].dropFirst()))
        }
        return names
    }

    private func strayPrepared() throws -> [CollectionFacts.Remnant] {
        try directory.families(in: layout.prepared).flatMap { try directory.releases(of: $0, in: layout.prepared) }
            .filter(isStray).map { identity in
                let bytes = try bytes(below: layout.preparedFolder(of: identity))
                return CollectionFacts.Remnant(item: .prepared(identity), bytes: bytes)
            }
    }

    /// Whether a release is no longer installed.
    private func isStray(_ identity: ReleaseIdentity) throws -> Bool {
        try !directory.exists(identity)
    }

    /// Removes releases: first from the link and the record, then their folders. If a folder
    /// cannot be moved, or a process has begun to read one meanwhile, everything is restored.
    /// - Throws: `release-in-use`.
    private func removeTogether(_ chosen: Set<ReleaseIdentity>, of family: Family, _ state: ReleaseState) throws {
        try refuseInUse(chosen)
        let next = try state.removing(chosen) { try directory.findBeforeChange($0).isWhole }
        do {
            if next != state { try activation.write(next, of: family) }
            try discard(chosen.sorted(by: ReleaseIdentity.isListedBefore), of: family)
        } catch {
            if next != state { restore(state, of: family) }
            throw error
        }
    }

    /// Restores link and record after a failed removal. The caller reports the error of the removal.
    private func restore(_ state: ReleaseState, of family: Family) {
        do {
            try activation.write(state, of: family)
        } catch {
            Log.write(.error, "what is active of \(family) was not restored: \(error)")
        }
    }

    private func refuseInUse(_ chosen: Set<ReleaseIdentity>) throws {
        for identity in chosen.sorted(by: ReleaseIdentity.isListedBefore) {
            guard let holder = try leases.holders(of: identity).first else { continue }
            throw StoreError.inUse(identity, by: holder)
        }
    }

    private func discard(_ chosen: [ReleaseIdentity], of family: Family) throws {
        let folder = layout.folder(of: family)
        let isAll = Set(chosen) == Set(try directory.releases(of: family))
        var moved: [(from: Path, to: Path)] = []
        do {
            for identity in chosen {
                let aside = folder.appendingTemporary(besides: HomeLayout.removedName)
                try fileSystem.rename(layout.folder(of: identity), to: aside)
                moved.append((layout.folder(of: identity), aside))
            }
            // If a process wrote a lease before the folder was moved, it is found here; if it writes one later, it
            // finds no folder.
            try refuseInUse(Set(chosen))
            try fileSystem.synchronizeFolder(folder)
        } catch {
            for (from, to) in moved.reversed() {
                do {
                    try fileSystem.rename(to, to: from)
                } catch let second {
                    Log.write(.error, "\(from) is gone with the next start: \(second)")
                }
            }
            throw error
        }
        // Other processes no longer see the releases; the rest only frees disk space.
        do {
            let leaving =
                moved.map(\.to) + chosen.flatMap { [layout.preparedFolder(of: $0), layout.marksFolder(of: $0)] }
            for path in leaving { try fileSystem.removeTree(path) }
            for identity in chosen { try leases.forget(identity) }
            guard isAll else { return }
            try fileSystem.removeTree(layout.preparedFolder(of: family))
            try fileSystem.removeTree(layout.marksFolder(of: family))
            try fileSystem.removeFile(layout.stateFile(of: family))
            if try directory.names(in: folder).isEmpty { try fileSystem.removeFolder(folder) }
        } catch {
            Log.write(.warning, "\(folder) is cleared at the next start: \(error)")
        }
    }
}

extension ReleaseState {
    /// Reasons to keep a release in its family's record.
    package func protections(of identity: ReleaseIdentity) -> Set<KeepReason> {
        var protections: Set<KeepReason> = []
        if active == identity { protections.insert(.active) }
        if previous == identity { protections.insert(.previous) }
        if pinned == identity { protections.insert(.pinned) }
        if probation?.release == identity { protections.insert(.onProbation) }
        return protections
    }
}
