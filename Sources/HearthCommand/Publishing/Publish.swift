import Foundation
import HearthBase
import HearthCatalog
import HearthDelivery
import HearthPublishing
import HearthTransfer

/// `hearth publish`
struct Publish: Command {
    @Argument(
        "FILE", .path, arity: .oneOrMore,
        "A model file, best named like lupus-diary-v1.1.0-q4_k_m.gguf; an archive; or what belongs to a model.")
    var files: [Path]
    @Option(.place) var place: PublishPlace
    @Option(
        "public", "URL", ValueKind("an https address") { PublishPlace.parsed($0) },
        "The address at which devices read the origin; it is examined afterwards.")
    var publicURL: URL?
    @Option(
        "family", "F", ValueKind("a name of small letters, digits, '.', '-' and '_'") { Family($0) },
        default: "from the file's name", "The model's name through all its versions.") var family: Family?
    @Option(
        "version", "V", ValueKind("a version such as 1.1.0") { SemanticVersion($0) },
        default: "from the file's name", "The release's version.") var version: SemanticVersion?
    @Option(
        "variant", "Q", ValueKind("a variant such as q4_k_m") { Variant($0.lowercased()) },
        default: "from the file's name", "The quantization.") var variant: Variant?
    @Option(
        "with", "FILE",
        ValueKind("a file, or projector=FILE, labels=FILE, tokenizer=FILE or other=FILE") { Companion($0) },
        isRepeatable: true, "A file that belongs to the model, after its purpose and '=' where its name does not tell.")
    private var companions: [Companion]
    @Option(
        "member", "PATH", ValueKind("the path of a file in the archive") { RelativePath($0) },
        default: "all of it", "The one file of an archive that devices unpack.") var member: RelativePath?
    let notes = PublishNotes()
    @Option(
        "single", "NAME",
        ValueKind("a file name such as manifest.json") { word in
            word.hasSuffix(".json") && word != "models.json" ? PathComponent(word).map { RelativePath($0) } : nil
        }, "Write a manifest of this one model too, for apps that read such a file.") var single: RelativePath?
    @Option(
        "canary-prompt", "TEXT",
        ValueKind("a text of at most 4096 bytes") { (1...4096).contains($0.utf8.count) ? $0 : nil },
        "What devices ask the model before they use it.") var canaryPrompt: String?
    @Option(
        "canary-pattern", "GLOB",
        ValueKind("a text of at most 512 bytes") { Canary.isPattern($0) ? $0 : nil },
        "What the answer has to contain, with * ? [a-z]; needs --canary-prompt.") var canaryPattern: String?
    @Option("canary-tokens", "N", .integer(Canary.tokenRange), default: "16", "How long the answer may be.")
    var canaryTokens: Int?
    @Option("canary-rate", "N", .number(0.001...1_000_000), "The least tokens a second.") var canaryRate: Float?
    @Option("canary-memory", "SIZE", .byteCount, "The most memory it may take.") var canaryMemory: UInt64?
    @Flag("replace", "Give a published release other bytes.") var replaces
    @Flag("dry-run", "Only say what would be done.") var isDryRun
    @Option(.events) var format: EventFormat
    let signing = SigningChoice()

    static let declaration = CommandDeclaration(
        "publish", summary: "Put models into an origin that devices can pull from",
        """
        Puts the files into ORIGIN, with a chunk index for each, and then writes or updates its models.json. Versions
        and variants live side by side. Any web server can serve a folder; `hearth host` does.

        REMOTE:bucket/path is a part of an S3-compatible bucket. REMOTE is a remote of rclone's configuration (its file,
        or RCLONE_CONFIG_*), or s3 with AWS_ACCESS_KEY_ID and its like. Large files are sent in parts, and a broken
        upload goes on where it was. Afterwards the files are read back, at the address of --public if given.

        A part such as model-00001-of-00003.gguf stands for all of them, which lie beside it. A projector (mmproj),
        labels.txt, tokenizer.json and the like belong to the models they are given with. An archive (zip, tar, tar.gz,
        tar.zst) is read as devices will read it, and every file in it listed with its own SHA-256; what they would
        refuse is refused here.

        oci://HOST/REPOSITORY[:TAG] is a repository of an OCI registry, which gets one release in the form of ModelPack; the
        tag is the version and variant by default. The log-ins are those of container tools. The same release always has
        the same digest.

        The same release with the same bytes is left alone; with other bytes it is refused unless --replace is given,
        for devices may have it already. Whatever fails, models.json is the old one or the new one.

        hearth publish lupus-diary-v1.1.0-q4_k_m.gguf --to ./origin  # Family, version and variant are in the name.
        hearth publish model.gguf --family lupus-diary --version 1.1.0 --variant q8_0 --to ./origin  # Or say them.
        hearth publish lupus-see-v1.0.0-q4_k_m.gguf mmproj-f16.gguf --to ./origin
        # A model and its projector: one release.
        hearth publish lupus-diary-v1.1.0-q8_0-00001-of-00004.gguf --to ./origin  # A model in four parts.
        hearth publish lupus-diary-v1.2.0-q4_k_m.gguf --rollout 10 --to ./origin
        # For a tenth of the devices; later the same with --rollout 100.
        hearth publish leaf-v2.0.0.zip --to ./origin  # A model in an archive.
        hearth publish lupus-diary-v1.2.0-q4_k_m.gguf --to r2:models --public https://models.example.com
        # To a bucket; then the public address is examined.
        hearth publish lupus-diary-v1.2.0-q4_k_m.gguf --to ./origin --sign  # Signed, after hearth trust init.
        hearth publish lupus-diary-v1.2.0-q4_k_m.gguf --to oci://registry.example.org/models/lupus-diary
        # To a registry, with the tag 1.2.0-q4_k_m.
        hearth publish Leaf_1.0.0.mlpackage --classes classes/v1.txt --single manifest.json --to r2:leaf
        # A folder, and a manifest of this one model.
        """)

    /// A file that belongs to a model, with its purpose where it was named.
    private struct Companion: Sendable {
        let path: Path
        let role: FileRole?

        init?(_ word: String) {
            let role = [FileRole.projector, .labels, .tokenizer, .other].first { word.hasPrefix("\($0.rawValue)=") }
            let path = role.map { String(word.dropFirst($0.rawValue.count + 1)) } ?? word
            if path.isEmpty { return nil }
            (self.path, self.role) = (Path(path), role)
        }
    }

    func validate() throws {
        guard member == nil || files.contains(where: { ArchiveFormat(fileName: $0.string) != nil }) else {
            throw UsageError("--member needs an archive among the files")
        }
        guard
            canaryPrompt != nil
                || canaryPattern == nil && canaryRate == nil && canaryMemory == nil && canaryTokens == nil
        else { throw UsageError("a canary needs --canary-prompt") }
        guard !place.isRegistry || !needsOrigin else {
            throw UsageError(
                "a registry keeps name, summary and license of a model; the other facts are those of an origin's list")
        }
    }

    /// Whether an option is for origins alone.
    private var needsOrigin: Bool {
        publicURL != nil || member != nil || single != nil || canaryPrompt != nil || notes.needsList || !signing.isEmpty
    }

    var request: PublishRequest {
        var request = PublishRequest(files: files)
        (request.family, request.version, request.variant) = (family, version, variant)
        (request.replaces, request.isDryRun) = (replaces, isDryRun)
        for companion in companions {
            request.companions.append(companion.path)
            request.roles[companion.path] = companion.role
        }
        (request.member, request.singleManifest, request.publicAddress) = (member, single, publicURL)
        notes.apply(to: &request)
        request.canary = canaryPrompt.map { prompt in
            Canary(
                prompt: prompt, pattern: canaryPattern, maximumNewTokens: canaryTokens ?? 16,
                minimumTokensPerSecond: canaryRate.map { Double($0) }, maximumMemoryBytes: canaryMemory)
        }
        return request
    }

    func run(in context: CommandContext) async throws {
        let console = context.console
        if format == .json { console.speakEvents() }
        if place.isRegistry { return try await publishToRegistry(context) }
        var place = place
        place.publicURL = publicURL
        let opened = try await place.open(context)
        let publisher = try await signing.publisher(for: opened.target, in: context)
        let report = try await publisher.publish(
            request,
            onProgress: PublishReporter(format, context, sending: opened.isBucket ? "sending" : "copying").show)
        console.showBar(nil)
        if let single, publicURL == nil {
            console.say(
                "\(single) has relative addresses, which some apps of that dialect cannot read; --public makes them whole."
            )
        }
        let found = try await examine(report, opened, context)
        switch format {
        case .json: try console.emit(PublishedEvent(report, found, isDryRun: isDryRun))
        case .text:
            try show(report, found, on: console)
            if !isDryRun { try await signing.sayWhoSees(opened.target, console) }
        }
        try found?.requireUsable()
        if await opened.target.refusesOverwriting == false {
            console.say(
                "\(opened.target.name) does not check conditions: two publishers at the same moment are not kept apart."
            )
        }
    }

    /// Reads a bucket's files back, or the public address of a folder.
    private func examine(
        _ report: PublishReport, _ opened: PublishPlace.Opened, _ context: CommandContext
    ) async throws -> OriginReport? {
        guard !isDryRun, opened.isBucket || publicURL != nil else { return nil }
        let catalog = report.plan.steps.first { $0.kind == .catalog }
        let check = OriginCheck(
            client: opened.client, time: context.time, only: Set(report.items.flatMap { $0.files.map(\.digest) }))
        return try await check.run(opened.url, expected: catalog?.digest, serial: report.serial)
    }

    private func show(_ report: PublishReport, _ found: OriginReport?, on console: Console) throws {
        for item in report.items { try console.print(line(item)) }
        if isDryRun {
            for step in report.plan.steps {
                console.say("would send \(step.place)  \(ByteCount(step.size))  \(step.cacheControl)")
            }
        }
        let verb = isDryRun ? "would be" : "is"
        console.say(
            report.changesManifest
                ? "\(report.manifest) \(verb) up to date, serial \(report.serial)."
                : "\(report.manifest) was up to date already.")
        if let found { try OriginFindings.show(found, .text, on: console) }
    }

    private func line(_ item: PublishReport.Item) -> String {
        let outcome = isDryRun ? "would be \(item.outcome.rawValue)" : item.outcome.rawValue
        var facts = [outcome]
        if item.files.count > 1 { facts.append("\(item.files.count) files") }
        if let packed = item.packedFiles { facts.append(packed == 1 ? "1 file packed" : "\(packed) files packed") }
        if item.isCurrent { facts.append("current") }
        return "\(item.identity)  \(ByteCount(item.size))  \(facts.joined(separator: ", "))"
    }
}
