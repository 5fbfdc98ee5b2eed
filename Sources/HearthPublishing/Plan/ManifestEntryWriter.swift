import Foundation
import HearthBase
import HearthCatalog

/// Writes the manifest entry of a release; other fields of a published entry stay.
struct ManifestEntryWriter {
    let source: PublishSource
    let request: PublishRequest
    let classes: PublishClasses?
    /// The published entry, if there is one.
    let previous: JSONMembers?
    let now: Date

    /// The entry of a release with the given published files.
    func entry(_ files: [PlannedFile]) -> JSONMembers {
        var entry = previous ?? [:]
        let identity = source.identity
        let main = files[0]
        entry["id"] = .string(ReleaseFileName.id(of: identity))
        entry["family"] = .string(identity.family.name)
        if let written = source.writtenName { entry["writtenName"] = .string(written.text) }
        entry["version"] = .string(identity.version.name)
        entry["variant"] = identity.variant.map { .string($0.name) }
        entry["filename"] = .string(source.fileName.name)
        entry["sizeBytes"] = .integer(main.size)
        entry["sha256"] = .string(main.digest.hex)
        entry["downloadUrl"] = .string(main.address)
        entry["format"] = .string(source.format.rawValue)
        entry["index"] = main.index.map(Self.index)
        let others = members + files.dropFirst().map(Self.file)
        entry["files"] = others.isEmpty ? nil : .array(others)
        entry["archive"] = (source.packed?.archive).map { archive in
            var fields: JSONMembers = ["format": .string(archive.format.rawValue)]
            fields["member"] = archive.member.map { .string($0.string) }
            return .object(fields)
        }
        // Readers of the first dialect refuse an entry without it.
        setIfAbsent("minAppVersion", "0.0.0", in: &entry)
        let roles = source.others.map(\.role) + (source.packed?.members.map(\.role) ?? [])
        let role = roles.contains(.projector) ? ModelRole.vision : source.format.defaultRole
        setIfAbsent("role", role.rawValue, in: &entry)
        setIfAbsent("released", String(now.timestamp.prefix(10)), in: &entry)
        describe(&entry)
        entry["requirements"] = requirements(fetched: files.map(\.size).reduce(0, +))
        // The mirrors hold the replaced bytes.
        entry["mirrors"] = nil
        annotate(&entry)
        return entry
    }

    /// Adds facts from the file's header. The file may come from any author: texts that cannot be displayed are left
    /// out.
    private func describe(_ entry: inout JSONMembers) {
        guard let header = source.header else { return }
        for (field, text) in [("name", header.name), ("license", header.license)] {
            if let text, (1...200).contains(text.utf8.count), text.isPlain() { setIfAbsent(field, text, in: &entry) }
        }
        entry["contextLength"] = nil
        if let length = header.contextLength, (1...1 << 31).contains(length) {
            entry["contextLength"] = .integer(length)
        }
    }

    /// The published entry with the publisher's new values, `nil` if they change nothing.
    func annotated() -> JSONMembers? {
        guard var entry = previous else { return nil }
        annotate(&entry)
        return entry == previous ? nil : entry
    }

    private func annotate(_ entry: inout JSONMembers) {
        let texts = [
            ("minAppVersion", request.minimumAppVersion?.description), ("role", request.role?.rawValue),
            ("name", request.name), ("summary", request.summary), ("notes", request.notes),
            ("license", request.license),
        ]
        for case (let field, let text?) in texts { entry[field] = .string(text) }
        if let length = request.contextLength { entry["contextLength"] = .integer(length) }
        if let memory = request.memoryBytes {
            var needs = entry["requirements"]?.members ?? [:]
            needs["memoryBytes"] = .integer(memory)
            entry["requirements"] = .object(needs)
        }
        if let isRecommended = request.isRecommended {
            entry["recommended"] = isRecommended ? .boolean(true) : nil
        }
        if let rollout = request.rollout {
            entry["rollout"] = .object(["percent": .integer(rollout.percent), "seed": .string(rollout.seed)])
        }
        if let date = request.trainedOn { entry["trainedOn"] = .string(date) }
        if let classes { entry["classes"] = classes.entry }
        if let canary = request.canary { entry["canary"] = Self.canary(canary) }
    }

    private static func canary(_ canary: Canary) -> JSONValue {
        var members: JSONMembers = [
            "prompt": .string(canary.prompt), "maxNewTokens": .integer(canary.maximumNewTokens),
            "timeoutSeconds": .integer(canary.timeoutSeconds),
        ]
        members["pattern"] = canary.pattern.map { .string($0) }
        members["minTokensPerSecond"] = canary.minimumTokensPerSecond.map { .number("\($0)") }
        members["maxMemoryBytes"] = canary.maximumMemoryBytes.map { .integer($0) }
        return .object(members)
    }

    private func setIfAbsent(_ field: String, _ text: String, in entry: inout JSONMembers) {
        if entry[field] == nil { entry[field] = .string(text) }
    }

    /// Estimates the requirements, unless the publisher gives them: memory as `Release.requiredMemory` does, storage as
    /// the files, with the archive they come in, plus a fifth.
    private func requirements(fetched: UInt64) -> JSONValue {
        var members = previous?["requirements"]?.members ?? [:]
        let unpacked = source.packed?.unpackedSize
        let size = unpacked ?? fetched
        let estimate = Release(
            identity: source.identity, id: "",
            file: RemoteFile(name: RelativePath(source.fileName), size: .exact(size), digest: nil, locations: []))
        members["memoryBytes"] = .integer(estimate.requiredMemory)
        let stored = fetched + (unpacked ?? 0)
        members["storageBytes"] = .integer(stored + stored / 5)
        return .object(members)
    }

    /// The files in the archive.
    private var members: [JSONValue] {
        guard let packed = source.packed else { return [] }
        return packed.members.map { file in
            // A single unpacked file gets the release's file name.
            let path = packed.archive.member == nil ? file.place.string : source.fileName.name
            return .object([
                "path": .string(path), "role": .string(file.role.rawValue), "sizeBytes": .integer(file.size),
                "sha256": .string(file.digest.hex),
            ])
        }
    }

    private static func file(_ file: PlannedFile) -> JSONValue {
        var fields: JSONMembers = [
            "path": .string(file.part.name.name), "role": .string(file.part.role.rawValue),
            "sizeBytes": .integer(file.size), "sha256": .string(file.digest.hex), "url": .string(file.address),
        ]
        fields["index"] = file.index.map(index)
        return .object(fields)
    }

    private static func index(_ index: PlannedFile.Index) -> JSONValue {
        .object([
            "url": .string(index.address), "sha256": .string(SHA256Digest(hashing: index.data).hex),
            "sizeBytes": .integer(index.data.count),
        ])
    }
}

extension ReleaseFileName {
    /// The identifier of a release's entry: its file's name without extension.
    static func id(of identity: ReleaseIdentity) -> String {
        "\(identity.family)-v\(identity.version)" + (identity.variant.map { "-\($0)" } ?? "")
    }
}

extension ModelFormat {
    /// The usual role of models of the format; a publisher may give another.
    var defaultRole: ModelRole {
        switch self {
        case .gguf, .mlx, .safetensors: .text
        case .onnx, .coreml: .classifier
        }
    }
}
