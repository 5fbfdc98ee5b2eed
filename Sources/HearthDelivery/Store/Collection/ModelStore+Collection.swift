import Foundation
import HearthBase

extension ModelStore {
    private var leases: ReleaseLeases { ReleaseLeases(layout: layout, fileSystem: fileSystem) }

    /// Removes the releases of a family that its active one has overtaken. What was active before stays, and so does whatever
    /// somebody uses or holds on to.
    ///
    /// For after a committed activation. What cannot be removed now stays, and goes with the next one.
    /// - Returns: what is gone.
    /// - Throws: `home-busy`, `FileError`, `CancellationError`.
    @discardableResult
    public func collectSuperseded(_ family: Family) async throws -> [ReleaseIdentity] {
        try await prepare()
        let plan = CollectionPlan(try facts(of: [family]), now: time.now)
        return try await remove(
            plan.removals.compactMap { removal in
                if case .release(let identity) = removal.item { identity } else { nil }
            })
    }

    /// Removes releases one by one, each in a step of its own, unless somebody has come to want them since.
    func remove(_ chosen: [ReleaseIdentity], isBudget: Bool = false) async throws -> [ReleaseIdentity] {
        var removed: [ReleaseIdentity] = []
        for identity in chosen {
            let isDone = try await committing { () -> Bool in
                guard try shelf.isFolder(layout.folder(of: identity)) else { return false }
                let facts = try facts(of: [identity.family])
                guard let member = facts.members.first(where: { $0.identity == identity }) else { return false }
                let reasons = CollectionPlan.reasons(for: member, facts)
                guard isBudget ? !reasons.contains(where: \.isBinding) : reasons.isEmpty else { return false }
                let state = try activation.stateBeforeChange(of: identity.family)
                do {
                    try take(Set([identity]), of: identity.family, state)
                } catch let error as StoreError where error.code == .releaseInUse {
                    Log.write(.info, "delivery.store", "\(identity) stays: \(error.message)")
                    return false
                }
                return true
            }
            if isDone { removed.append(identity) }
        }
        return removed
    }

    /// What there is of families, and who wants it; `nil` for all of them.
    func facts(of wanted: [Family]? = nil) throws -> CollectionFacts {
        var facts = CollectionFacts()
        for family in try wanted ?? shelf.families().sorted() {
            let state = try activation.state(of: family)
            facts.active[family] = state.active
            let incoming = try incoming(family)
            for identity in try shelf.releases(of: family) {
                var member = CollectionFacts.Member(identity: identity, wishes: state.wishes(for: identity))
                if try !leases.holders(of: identity).isEmpty { member.wishes.insert(.inUse) }
                if incoming.contains(identity.folderName) { member.wishes.insert(.incoming) }
                if case .whole(let receipt) = try shelf.find(identity) { member.lastUsed = receipt.installed }
                if let used = try leases.lastUse(of: identity) { member.lastUsed = max(member.lastUsed, used) }
                member.preparedBytes = try bytes(below: layout.preparedFolder(of: identity))
                facts.members.append(member)
            }
        }
        facts.owners = try owners(of: facts.members.map(\.identity))
        if wanted == nil { facts.strayPrepared = try strayPrepared() }
        return facts
    }

    /// The folder names of releases that somebody is putting together.
    private func incoming(_ family: Family) throws -> Set<String> {
        let folder = layout.folder(of: family)
        var names: Set<String> = []
        for name in try shelf.names(in: folder) where HomeLayout.isTemporary(name) {
            guard let mark = name.range(of: Path.temporaryMark),
                try shelf.isFolder(HomeLayout.join(folder, name))
            else { continue }
            names.insert(String(name[..<mark.lowerBound].dropFirst()))
        }
        return names
    }

    private func strayPrepared() throws -> [CollectionFacts.Remnant] {
        var strays: [CollectionFacts.Remnant] = []
        for name in try shelf.names(in: layout.prepared) {
            guard let family = Family(name), try shelf.isFolder(layout.preparedFolder(of: family)) else { continue }
            for release in try shelf.names(in: layout.preparedFolder(of: family)) {
                guard let identity = ReleaseIdentity(family: family, folderName: release),
                    identity.folderName == release, try isStray(identity)
                else { continue }
                let folder = layout.preparedFolder(of: identity)
                strays.append(
                    CollectionFacts.Remnant(item: .prepared(identity), bytes: try bytes(below: folder)))
            }
        }
        return strays
    }

    /// Whether a release is gone, and nobody is putting it together: what is tried where it is staged may open what was made of it.
    private func isStray(_ identity: ReleaseIdentity) throws -> Bool {
        try !shelf.isFolder(layout.folder(of: identity)) && !incoming(identity.family).contains(identity.folderName)
    }

    /// Removes what was made from a release, if that is still gone.
    func removeStrayPrepared(_ identity: ReleaseIdentity) async throws -> Bool {
        try await committing {
            guard try isStray(identity) else { return false }
            try fileSystem.removeTree(layout.preparedFolder(of: identity))
            return true
        }
    }

    /// Clears up what interrupted processes left, also while this one goes on.
    func collectLeftOvers() async throws {
        try await committing {
            try LeftOvers(layout: layout, fileSystem: fileSystem).collect()
            for family in try marks.families() { try marks.tidy(family) }
        }
    }

    /// The bytes of all files below a folder, none where there is no folder.
    func bytes(below folder: Path) throws -> UInt64 {
        guard try shelf.isFolder(folder) else { return 0 }
        return try fileSystem.files(below: folder).map { name in
            try fileSystem.status(at: HomeLayout.join(folder, name), followLinks: false)?.size ?? 0
        }.saturatedSum
    }

    /// Lets go of releases under the commit lock: the link and the record first, then their folders, unless somebody has begun
    /// to read one in between: then everything is as before.
    /// - Throws: `release-in-use`.
    func take(_ chosen: Set<ReleaseIdentity>, of family: Family, _ state: ReleaseState) throws {
        try refuseInUse(chosen)
        let next = try state.removing(chosen) { try isUsable($0) }
        if next != state { try activation.write(next, of: family) }
        do {
            try discard(chosen.sorted(by: ReleaseIdentity.isListedBefore), of: family)
        } catch let error as StoreError where error.code == .releaseInUse {
            if next != state { try activation.write(state, of: family) }
            throw error
        }
    }

    private func isUsable(_ identity: ReleaseIdentity) throws -> Bool {
        switch try shelf.find(identity) {
        case .whole: return true
        case .absent: return false
        case .damaged(_, let problem):
            // A disk that fails for a moment is no damage: better no removal than the way back lost.
            if let cause = problem.underlying as? FileError { throw cause }
            return false
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
        let isAll = Set(chosen) == Set(try shelf.releases(of: family))
        var moved: [(from: Path, to: Path)] = []
        do {
            for identity in chosen {
                let aside = folder.appendingTemporary(besides: HomeLayout.removedName)
                try fileSystem.rename(layout.folder(of: identity), to: aside)
                moved.append((layout.folder(of: identity), aside))
            }
            // Whoever wrote a lease before the folder went was not seen above; whoever writes one now sees no folder.
            try refuseInUse(Set(chosen))
        } catch {
            for (from, to) in moved.reversed() {
                do {
                    try fileSystem.rename(to, to: from)
                } catch let second {
                    Log.write(.error, "delivery.store", "\(from) is gone with the next start: \(second)")
                }
            }
            throw error
        }
        try fileSystem.synchronizeFolder(folder)
        // From here on everything is removed for whoever looks; only disk space is left to win back.
        do {
            let leaving =
                moved.map(\.to) + chosen.flatMap { [layout.preparedFolder(of: $0), layout.marksFolder(of: $0)] }
            for path in leaving { try fileSystem.removeTree(path) }
            for identity in chosen { try leases.forget(identity) }
            guard isAll else { return }
            try fileSystem.removeTree(layout.preparedFolder(of: family))
            try fileSystem.removeTree(layout.marksFolder(of: family))
            try fileSystem.removeFile(layout.stateFile(of: family))
            if try shelf.names(in: folder).isEmpty { try fileSystem.removeFolder(folder) }
        } catch {
            Log.write(.warning, "delivery.store", "\(folder) is cleared at the next start: \(error)")
        }
    }
}

extension ReleaseState {
    /// What of a family's record speaks for keeping a release.
    func wishes(for identity: ReleaseIdentity) -> Set<KeepReason> {
        var wishes: Set<KeepReason> = []
        if active == identity { wishes.insert(.active) }
        if previous == identity { wishes.insert(.previous) }
        if pinned == identity { wishes.insert(.pinned) }
        if probation?.release == identity { wishes.insert(.onProbation) }
        return wishes
    }
}
