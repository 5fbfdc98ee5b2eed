import Foundation
import HearthBase

/// The search for one file: depth first, each role once, in the order of the delegations.
struct TargetSearch: Sendable {
    let path: String
    /// The roles to visit, the next one last.
    var waiting: [TrustUpdate.Visit] = []
    var visited: Set<MetadataRole> = []
}

/// The targets role and those it delegates to (sections 5.6 and 5.7 of the specification).
extension TrustUpdate {
    /// Loads a role: the device's copy if the snapshot still lists it, else the origin's.
    mutating func load(_ visit: Visit) throws(TrustError) -> [Effect] {
        guard snapshot?.listed[visit.role.listedName] != nil else {
            throw .missing("entry for \(visit.role) in its snapshot")
        }
        stage = .storedTargets(visit)
        return [.load(visit.role)]
    }

    mutating func takeStoredTargets(_ data: Data?, _ visit: Visit) throws(TrustError) -> [Effect] {
        guard let listed = snapshot?.listed[visit.role.listedName] else { return [] }
        if let data, let stored = usable(data, visit, listed) { return try take(stored, visit) }
        stage = .targets(visit)
        return [fetch(visit.role, listed)]
    }

    mutating func takeTargets(_ data: Data, _ visit: Visit) throws(TrustError) -> [Effect] {
        guard let listed = snapshot?.listed[visit.role.listedName] else { return [] }
        let received = try read(data, visit, listed)
        return [.keep(visit.role, data)] + (try take(received, visit))
    }

    /// The device's copy, if it would be accepted from the origin.
    private func usable(_ data: Data, _ visit: Visit, _ listed: ListedMetadata) -> TargetsMetadata? {
        do {
            return try read(data, visit, listed)
        } catch {
            Log.write(.info, "the stored \(visit.role) is not used: \(error)")
            return nil
        }
    }

    /// Checks a targets file against the snapshot and the keys of the role that delegates to it now.
    private func read(_ data: Data, _ visit: Visit, _ listed: ListedMetadata) throws(TrustError) -> TargetsMetadata {
        try listed.check(data, visit.role)
        let file = try SignedMetadata(parsing: data, visit.role)
        try file.verify(by: visit.keys)
        let targets = try TargetsMetadata(file)
        guard targets.fields.version == listed.version else {
            throw .mismatch(
                "\(visit.role)", "version", expected: "\(listed.version)", found: "\(targets.fields.version)")
        }
        try targets.fields.checkExpiry(visit.role, now: now)
        return targets
    }

    private mutating func take(_ targets: TargetsMetadata, _ visit: Visit) throws(TrustError) -> [Effect] {
        guard search == nil else { return try look(in: targets, of: visit.role) }
        self.targets = targets
        stage = .ready
        return [.refreshed]
    }

    /// Looks for the file in one role, then plans its delegations, then visits the next role.
    mutating func look(in targets: TargetsMetadata, of role: MetadataRole) throws(TrustError) -> [Effect] {
        guard var search else { return [] }
        if let file = targets.files[search.path] { return finish(file) }
        search.visited.insert(role)
        var children: [Visit] = []
        for child in targets.delegations?.roles(for: search.path) ?? [] {
            children.append(Visit(role: child.role, keys: child.keys))
            if child.isTerminating {
                search.waiting = []
                break
            }
        }
        search.waiting += children.reversed()
        while let visit = search.waiting.popLast() {
            if search.visited.contains(visit.role) { continue }
            guard search.visited.count < Self.visitLimit else {
                throw TrustError(
                    .tooManyDelegations, "the search for \(search.path.quoted) led through \(Self.visitLimit) roles",
                    context: ErrorContext(file: search.path, remedy: "Ask the publisher for fewer delegations."))
            }
            self.search = search
            return try load(visit)
        }
        return finish(nil)
    }

    private mutating func finish(_ file: TargetFile?) -> [Effect] {
        search = nil
        stage = .ready
        return [.found(file)]
    }
}
