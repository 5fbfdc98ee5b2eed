import Foundation
import HearthBase
import HearthCatalog

/// A publication while it is planned: the new catalog, the uploads of files, and the results for the report.
struct PublishDraft: Sendable {
    /// The catalog after the publication.
    private(set) var manifest: OriginManifest
    /// The uploads of files and indexes.
    private(set) var plan = PublishPlan()
    /// Whether the catalog changes.
    private(set) var isChanged = false
    /// The places of files that only the replaced entries named.
    private(set) var withdrawn: Set<RelativePath> = []
    private var results: [Result] = []

    /// The result for one release.
    private struct Result: Sendable {
        let source: PublishSource
        let files: [(part: PublishPart, place: RelativePath, size: UInt64, digest: SHA256Digest)]
        let outcome: PublishReport.Outcome
    }

    /// Plans a publication. The target is asked what it holds, and not changed.
    /// - Throws: ``PublishingError`` with `release-exists` or `name-needed`; the target's errors.
    init(
        _ sources: [HashedSource], request: PublishRequest, classes: PublishClasses?, before: OriginManifest,
        target: any PublishTarget, now: Date
    ) async throws {
        manifest = before
        var replaced: Set<RelativePath> = []
        for source in sources {
            replaced.formUnion(try await add(source, request, classes, target, now))
        }
        if isChanged { try manifest.stamp(now) }
        let named = manifest.catalog.releases.reduce(into: Set<RelativePath>()) {
            $0.formUnion(manifest.places(of: $1))
        }
        withdrawn = replaced.subtracting(named)
        if let place = request.singleManifest, let source = sources.first?.source {
            let single = SingleManifestWriter(manifest, source.identity, base: request.publicAddress)
            try await addClassList(of: single, beside: place, classes, target)
            plan.add(PublishStep(.singleCatalog, place, data: single.data, isImmutable: false))
        }
    }

    /// Plans the list of classes of a manifest of one model, in the place where its readers look for it.
    /// - Throws: ``PublishingError`` with `release-exists` if another list has that version.
    private mutating func addClassList(
        of single: SingleManifestWriter, beside place: RelativePath, _ classes: PublishClasses?,
        _ target: any PublishTarget
    ) async throws {
        guard let version = single.listVersion else { return }
        let place = try OriginPlaces.classList(version, beside: place)
        var list = classes?.version == version ? classes?.data : nil
        if list == nil, let published = manifest.place(ofClassesOf: single.identity) {
            list = try await target.contents(of: published, limit: PublishClasses.maximumSize)?.data
        }
        // A list at an address elsewhere is the publisher's own affair.
        guard let list else { return }
        guard let there = try await target.contents(of: place, limit: PublishClasses.maximumSize) else {
            return plan.add(PublishStep(.file, place, data: list, isImmutable: true))
        }
        guard there.data != list else { return }
        throw PublishingError(
            .releaseExists, "another list of classes is published as \(target.shown(place))",
            context: ErrorContext(
                model: single.identity.description, file: place.string,
                expected: SHA256Digest(hashing: there.data).hex, found: SHA256Digest(hashing: list).hex,
                remedy: "Name the file after another version: devices read the list of a version once."))
    }

    /// The files that the publisher gave.
    var sourceIdentities: Set<FileIdentity> {
        Set(results.flatMap { $0.source.parts.map(\.status.identity) })
    }

    /// Plans one release. Returns the places that the replaced entry named.
    private mutating func add(
        _ hashed: HashedSource, _ request: PublishRequest, _ classes: PublishClasses?, _ target: any PublishTarget,
        _ now: Date
    ) async throws -> Set<RelativePath> {
        let source = hashed.source
        try refuseClash(source)
        let writer = ManifestEntryWriter(
            source: source, request: request, classes: classes, previous: manifest.entry(of: source.identity), now: now)
        let previous = manifest.catalog.releases.first { $0.identity == source.identity }
        let known = zip(source.parts, hashed.found).map { part, found in previous?.published(part.name, found.digest) }
        let isSame = previous.map { source.isContent(of: $0, digests: hashed.found.map(\.digest)) } ?? false
        if let previous, !isSame, !request.replaces { throw Self.exists(source, previous, hashed.found[0].digest) }
        if isSame, try await isComplete(known, hashed.found, target) {
            try note(hashed, known, writer, request)
            if let classes { try await upload(classes, to: target) }
            return []
        }
        let files = try zip(zip(source.parts, hashed.found), known).map { pair, known in
            try PlannedFile(
                pair.0, pair.1, known: known?.locations.first.flatMap(manifest.place),
                replaces: previous != nil && !isSame)
        }
        for (file, known) in zip(files, known) {
            // A published file is not read again: its size is compared.
            let isKnown = known?.locations.first.flatMap(manifest.place) == file.place
            if try await !target.holds(file.place, size: file.size, digest: isKnown ? nil : file.digest) {
                plan.add(
                    PublishStep(
                        .file, file.place, file: file.part.path, modified: file.part.status.modified, size: file.size,
                        digest: file.digest))
            }
            if let index = file.index {
                plan.add(PublishStep(.index, index.place, data: index.data, isImmutable: true))
            }
        }
        if let classes { try await upload(classes, to: target) }
        try manifest.put(writer.entry(files), of: source.identity, isCurrent: request.isCurrent)
        isChanged = true
        results.append(
            Result(
                source: source, files: files.map { ($0.part, $0.place, $0.size, $0.digest) },
                outcome: previous == nil || isSame ? .published : .replaced))
        return isSame ? [] : previous.map(manifest.places) ?? []
    }

    /// Refuses a release whose family another written name made, or an earlier version of this program another family
    /// of the name: devices would get it as an update of another model, or no update of theirs.
    private func refuseClash(_ source: PublishSource) throws {
        guard let written = source.writtenName else { return }
        let family = written.family
        let listed = manifest.catalog.releases
        let names = listed.filter { $0.identity.family == family }.compactMap(\.writtenName)
        if let other = written.clash(among: names) {
            throw Self.clash(
                source, "\(written.text.quoted) and \(other.quoted) are both the family \(family)", found: other.quoted,
                remedy: "If they are one model, give the family \(family); else give this one a family of its own.")
        }
        guard let earlier = written.earlierFamily, !listed.contains(where: { $0.identity.family == family }),
            listed.contains(where: { $0.identity.family == earlier && $0.writtenName == nil })
        else { return }
        throw Self.clash(
            source,
            "\(written.text.quoted) is the family \(family), and the origin has \(earlier), as it was spelled before",
            found: earlier.name,
            remedy: "Give the family \(earlier) to go on with it, or \(family) to begin another model.")
    }

    private static func clash(
        _ source: PublishSource, _ problem: String, found: String, remedy: String
    ) -> PublishingError {
        PublishingError(
            .nameClash, problem,
            context: ErrorContext(
                model: source.identity.description, file: source.path.string, field: "family", found: found,
                remedy: remedy))
    }

    /// Whether the target has every file of a published release. A file at an address elsewhere is not checked.
    private func isComplete(
        _ known: [RemoteFile?], _ found: [FileCopier.Result], _ target: any PublishTarget
    ) async throws -> Bool {
        for (file, found) in zip(known, found) {
            guard let place = file?.locations.first.flatMap(manifest.place) else { continue }
            guard try await target.holds(place, size: found.size, digest: nil) else { return false }
        }
        return true
    }

    /// Takes the publisher's new values for a release whose bytes are published already.
    private mutating func note(
        _ hashed: HashedSource, _ known: [RemoteFile?], _ writer: ManifestEntryWriter, _ request: PublishRequest
    ) throws {
        let source = hashed.source
        if let entry = writer.annotated() {
            try manifest.put(entry, of: source.identity, isCurrent: false)
            isChanged = true
        }
        if request.isCurrent == true { isChanged = try manifest.makeCurrent(source.identity) || isChanged }
        let files = try zip(zip(source.parts, hashed.found), known).map { pair, file in
            let place = try file?.locations.first.flatMap(manifest.place) ?? OriginPlaces.model(pair.0.name)
            return (part: pair.0, place: place, size: pair.1.size, digest: pair.1.digest)
        }
        results.append(Result(source: source, files: files, outcome: .unchanged))
    }

    private mutating func upload(_ classes: PublishClasses, to target: any PublishTarget) async throws {
        guard try await !target.holds(classes.place, size: UInt64(classes.data.count), digest: classes.digest) else {
            return
        }
        plan.add(PublishStep(.file, classes.place, data: classes.data, isImmutable: true))
    }

    private static func exists(
        _ source: PublishSource, _ previous: Release, _ digest: SHA256Digest
    ) -> PublishingError {
        let isOnlyBeside = previous.file.digest == digest
        return PublishingError(
            .releaseExists,
            "\(source.identity) is published already, with other \(isOnlyBeside ? "files beside it" : "bytes")",
            context: ErrorContext(
                model: source.identity.description, file: source.path.string,
                expected: isOnlyBeside ? nil : previous.file.digest?.hex, found: isOnlyBeside ? nil : digest.hex,
                remedy: "Publish it as a new version, or replace the published one."))
    }

    /// The report of the publication.
    func report(plan: PublishPlan, target: any PublishTarget) throws -> PublishReport {
        let items = results.map { result in
            let identity = result.source.identity
            return PublishReport.Item(
                source: result.source.path, identity: identity,
                files: result.files.map { file in
                    PublishReport.File(
                        name: file.part.name.name, role: file.part.role, path: Path(target.shown(file.place)),
                        size: file.size, digest: file.digest)
                },
                packedFiles: result.source.packed?.members.count, outcome: result.outcome,
                isCurrent: manifest.catalog.preferredVersion(of: identity.family) == identity.version)
        }
        return PublishReport(
            items: items, manifest: Path(target.shown(try OriginPlaces.catalog)), serial: manifest.serial,
            changesManifest: isChanged, plan: plan)
    }
}
