import Foundation
import HearthBase
import HearthHTTP

extension Release {
    /// Parses one entry of `models`.
    package init(entry: ManifestReader, familyHint: Family?) throws(CatalogError) {
        let id = try entry.required("id", "a name", entry.text)
        var entry = entry
        entry.entry = id

        let name = try entry.required("filename", "a file name", entry.fileName)
        let file = RemoteFile(
            name: RelativePath(name),
            size: .exact(try entry.size()), digest: try entry.digest("sha256"),
            locations: [try entry.required("downloadUrl", "an address", entry.address)]
                + (try entry.addresses("mirrors")))
        self.init(identity: try entry.identity(fileName: name, hint: familyHint), id: id, file: file)

        role = try entry.choice("role") ?? .text
        archive = try entry.archive()
        format = try entry.choice("format") ?? ModelFormat(fileName: archive?.member?.string ?? name.name) ?? .gguf
        self.name = try entry.text("name")
        writtenName = try entry.text("writtenName")
        summary = try entry.prose("summary")
        license = try entry.text("license")
        released = try entry.text("released")
        notes = try entry.prose("notes")
        contextLength = try entry.integer("contextLength", in: 1...1 << 31).map { Int($0) }
        minimumAppVersion = try entry.parsed("minAppVersion", "a version such as 1.0.0") { SemanticVersion($0) }
        isRecommended = try entry.flag("recommended") ?? false
        if let needs = try entry.object("requirements") {
            requirements = Requirements(
                memoryBytes: try needs.integer("memoryBytes"), storageBytes: try needs.integer("storageBytes"))
        }
        if let share = try entry.object("rollout") {
            let percent = try share.required("percent", "a percentage") { field throws(CatalogError) in
                try share.integer(field, in: 0...100)
            }
            rollout = Rollout(percent: Int(percent), seed: try share.text("seed") ?? "")
        }
        yanked = try entry.text("yanked")
        trainedOn = try entry.text("trainedOn")
        canary = try entry.object("canary")?.canary()
        classes = try entry.object("classes")?.classes()
        index = try entry.object("index")?.index(of: RelativePath(name))
        for (companion, index) in try entry.companions(besides: name, inArchive: archive != nil) {
            companions.append(companion)
            if let index { companionIndexes[companion.name] = index }
        }
    }
}

extension ManifestReader {
    /// The identity from the fields `family`, `version` and `variant`, or from the file's name.
    fileprivate func identity(fileName: PathComponent, hint: Family?) throws(CatalogError) -> ReleaseIdentity {
        let fromName = ReleaseFileName(parsing: fileName.name)
        let version = try version(else: fromName?.version)
        let family: Family
        if let named = try parsed("family", Self.familyRule, { Family($0) }) {
            family = named
        } else if let known = fromName.flatMap({ Family($0.name) }) ?? hint {
            family = known
        } else {
            throw failure(
                "family", "it is missing, and the file name \(fileName.name.quoted) does not tell it",
                expected: Self.familyRule, found: "nothing")
        }
        let variant = try parsed("variant", "lower-case letters, digits, points and underscores") { Variant($0) }
        return ReleaseIdentity(family: family, version: version, variant: variant ?? fromName?.variant)
    }

    private static var familyRule: String {
        "up to 64 lower-case letters, digits, points, hyphens and underscores"
    }

    private func version(else fromName: SemanticVersion?) throws(CatalogError) -> ReleaseVersion {
        if let version = try version("version") { return version }
        guard let fromName else {
            throw failure("version", "it is missing", expected: "a version such as 1.0.0", found: "nothing")
        }
        return ReleaseVersion(fromName)
    }

    /// A version: semantic, or another name of letters, digits and `.-_+`.
    package func version(_ field: String) throws(CatalogError) -> ReleaseVersion? {
        try parsed(field, "a version such as 1.0.0") { ReleaseVersion($0) }
    }

    /// The name of a file in the release's folder: one component, neither hidden nor the receipt's name.
    package func fileName(_ field: String) throws(CatalogError) -> PathComponent? {
        try parsed(field, "a plain file name") { text in
            PathComponent(text).flatMap { Self.isUsable(RelativePath($0)) ? $0 : nil }
        }
    }

    /// The path of a file in the release's folder: no hidden component, and not the receipt's name.
    fileprivate func filePath(_ field: String) throws(CatalogError) -> RelativePath? {
        try parsed(field, "a relative path of plain names") { text in
            RelativePath(text).flatMap { Self.isUsable($0) ? $0 : nil }
        }
    }

    private static func isUsable(_ path: RelativePath) -> Bool {
        path.reservation == nil && !path.components.contains { $0.name.hasPrefix(".") }
    }

    /// The required size of a file. Only a file with the digest of nothing is empty: publishers that do not know a
    /// size write 0, and no bytes that come would fit.
    fileprivate func size(atMost limit: UInt64 = largestInteger) throws(CatalogError) -> UInt64 {
        let size = try required("sizeBytes", "a number of bytes") { field throws(CatalogError) in
            try integer(field, in: 0...limit)
        }
        if size == 0, try digest("sha256") != SHA256Digest(hashing: [UInt8]()) {
            throw malformed("sizeBytes", expected: "the number of bytes of the file", found: "0")
        }
        return size
    }

    /// The most companions that an entry may list.
    static let maximumCompanions = 512

    fileprivate func archive() throws(CatalogError) -> Archive? {
        guard let archive = try object("archive") else { return nil }
        let format = try archive.required("format", "an archive format") { field throws(CatalogError) in
            try archive.choice(field, ArchiveFormat.self)
        }
        let member = try archive.parsed("member", "a path inside the archive") { RelativePath($0) }
        return Archive(format: format, member: member)
    }

    fileprivate func index(of file: RelativePath) throws(CatalogError) -> RemoteFile {
        guard let name = file.withSuffix(".index") else {
            throw failure("url", "the file's name is too long for an index beside it")
        }
        return RemoteFile(
            name: name, role: .index,
            size: .exact(try size(atMost: UInt64(ChunkIndex.maximumEncodedSize))),
            digest: try required("sha256", "64 hexadecimal digits", digest),
            locations: [try required("url", "an address", address)])
    }

    /// Rejects every malformed field, because another test question could pass a broken release.
    fileprivate func canary() throws(CatalogError) -> Canary {
        func text(_ limit: Int) -> String { "a text of at most \(limit) bytes" }
        let promptRule = text(Canary.maximumPromptBytes)
        let prompt = try required("prompt", promptRule) { field throws(CatalogError) in
            try parsed(field, promptRule) { Canary.isPrompt($0) ? $0 : nil }
        }
        let tokens = Canary.tokenRange
        let seconds = Canary.timeoutRange
        let usual = Canary(prompt: prompt)
        return Canary(
            prompt: prompt,
            pattern: try parsed("pattern", text(Canary.maximumPatternBytes)) { Canary.isPattern($0) ? $0 : nil },
            maximumNewTokens: try integer(
                "maxNewTokens", in: UInt64(tokens.lowerBound)...UInt64(tokens.upperBound)
            ).map { Int($0) } ?? usual.maximumNewTokens,
            minimumTokensPerSecond: try decimal("minTokensPerSecond", in: Canary.rateRange),
            maximumMemoryBytes: try integer("maxMemoryBytes", in: 1...UInt64.max),
            timeoutSeconds: try integer(
                "timeoutSeconds", in: UInt64(seconds.lowerBound)...UInt64(seconds.upperBound)
            ).map { Int($0) } ?? usual.timeoutSeconds)
    }

    fileprivate func classes() throws(CatalogError) -> Classes {
        var classes = Classes(
            count: try integer("count", in: 0...1 << 31).map { Int($0) }, listVersion: try text("listVersion"))
        if let url = try address("url") {
            guard let name = PathComponent(url.fileName), !name.name.hasPrefix(".") else {
                throw malformed("url", expected: "an address that ends in a file name", found: url.shown.quoted)
            }
            let size = try integer("sizeBytes").map { FileSize.exact($0) } ?? .about(0, limit: 4 << 20)
            classes.labels = RemoteFile(
                name: RelativePath(name), role: .labels, size: size, digest: try digest("sha256"), locations: [url])
        }
        return classes
    }

    /// The companions in `files`; those inside an archive need no address.
    fileprivate func companions(
        besides main: PathComponent, inArchive: Bool
    ) throws(CatalogError) -> [(RemoteFile, index: RemoteFile?)] {
        var companions: [(RemoteFile, index: RemoteFile?)] = []
        var names = DistinctPaths()
        var places: [String: String] = [:]
        if !inArchive, names.insert(RelativePath(main)) == nil { places[RelativePath(main).folded] = "filename" }
        let files = try objects("files") ?? []
        guard files.count <= Self.maximumCompanions else {
            throw malformed("files", expected: "at most \(Self.maximumCompanions) files", found: "\(files.count)")
        }
        for file in files {
            let name = try file.required("path", "a relative path of plain names", file.filePath)
            if let other = names.insert(name) {
                throw file.failure(
                    "path",
                    "\(name.string.quoted) is taken by \(places[other.folded] ?? "the folder \(other.string.quoted)")",
                    expected: "a name of its own", found: name.string)
            }
            places[name.folded] = file.place
            let address =
                inArchive ? try file.address("url") : try file.required("url", "an address", file.address)
            let companion = RemoteFile(
                name: name, role: try file.choice("role") ?? .other, size: .exact(try file.size()),
                digest: try file.digest("sha256"),
                locations: [address].compactMap(\.self) + (try file.addresses("mirrors")))
            companions.append((companion, try file.object("index")?.index(of: name)))
        }
        return companions
    }
}

extension ModelFormat {
    /// The format that a file's extension indicates, `nil` for an unknown extension.
    public init?(fileName: String) {
        switch Path(fileName).fileExtension {
        case "gguf": self = .gguf
        case "onnx": self = .onnx
        case "mlpackage", "mlmodel", "mlmodelc": self = .coreml
        case "safetensors": self = .mlx
        default: return nil
        }
    }

    /// The format of a file that an engine can open, `nil` if its path does not tell.
    ///
    /// A compiled Core ML model is a folder: its file `coremldata.bin` stands for all of them.
    package init?(file: RelativePath) {
        if let folder = file.parent, Path(folder.string).fileExtension == "mlmodelc", file.last.name == "coremldata.bin"
        {
            self = .coreml
        } else {
            self.init(fileName: file.last.name)
        }
    }
}
