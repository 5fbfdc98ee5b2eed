import Foundation
import HearthBase
import HearthCatalog
import HearthDelivery
import HearthPublishing
import HearthTransfer

/// `hearth publish`
struct Publish: Command {
    private static let files = Argument(
        "FILE", .word, arity: .oneOrMore,
        "A model file, best named like lupus-diary-v1.1.0-q4_k_m.gguf; an archive; or what belongs to a model.")
    private static let family = Option(
        "family", "F", ValueKind("a name of small letters, digits, '.', '-' and '_'") { Family($0) },
        default: "from the file's name", "The model's name through all its versions.")
    private static let version = Option(
        "version", "V", ValueKind("a version such as 1.1.0") { SemanticVersion($0) },
        default: "from the file's name", "The release's version.")
    private static let variant = Option(
        "variant", "Q", ValueKind("a variant such as q4_k_m") { Variant($0.lowercased()) },
        default: "from the file's name", "The quantization.")
    private static let with = Option(
        "with", "FILE",
        ValueKind("a file, or projector=FILE, labels=FILE, tokenizer=FILE or other=FILE") { companion($0) },
        isRepeatable: true, "A file that belongs to the model, after its purpose and '=' where its name does not tell.")
    private static let member = Option(
        "member", "PATH", ValueKind("the path of a file in the archive") { RelativePath($0) },
        default: "all of it", "The one file of an archive that devices unpack.")
    private static let canaryPrompt = Option(
        "canary-prompt", "TEXT",
        ValueKind("a text of at most 4096 bytes") { (1...4096).contains($0.utf8.count) ? $0 : nil },
        "What devices ask the model before they use it.")
    private static let canaryPattern = Option(
        "canary-pattern", "GLOB",
        ValueKind("a text of at most 512 bytes") { Canary.isPattern($0) ? $0 : nil },
        "What the answer has to contain, with * ? [a-z]; needs --canary-prompt.")
    private static let canaryTokens = Option(
        "canary-tokens", "N", .integer(Canary.tokenRange), default: "16", "How long the answer may be.")
    private static let canaryRate = Option(
        "canary-rate", "N", .number(0.001...1_000_000), "The least tokens a second.")
    private static let canaryMemory = Option("canary-memory", "SIZE", .byteCount, "The most memory it may take.")
    private static let single = Option(
        "single", "NAME",
        ValueKind("a file name such as manifest.json") { word in
            word.hasSuffix(".json") && word != "models.json" ? PathComponent(word).map { RelativePath($0) } : nil
        }, "Write a manifest of this one model too, for apps that read such a file.")
    private static let replace = Flag("replace", "Give a published release other bytes.")
    private static let dryRun = Flag("dry-run", "Only say what would be done.")

    static let declaration = CommandDeclaration(
        "publish", summary: "Put models into an origin that devices can pull from",
        discussion: [
            "Puts the files into ORIGIN, with a chunk index for each, and then writes or updates its models.json. Versions and "
                + "variants live side by side. Any web server can serve a folder; `hearth host` does.",
            "REMOTE:bucket/path is a part of an S3-compatible bucket. REMOTE is a remote of rclone's configuration (its file, or "
                + "RCLONE_CONFIG_*), or s3 with AWS_ACCESS_KEY_ID and its like. Large files are sent in parts, and a broken "
                + "upload goes on where it was. Afterwards the files are read back, at the address of --public if given.",
            "A part such as model-00001-of-00003.gguf stands for all of them, which lie beside it. A projector (mmproj), labels.txt, "
                + "tokenizer.json and the like belong to the models they are given with. An archive (zip, tar, tar.gz, tar.zst) is "
                + "read as devices will read it, and every file in it listed with its own SHA-256; what they would refuse is "
                + "refused here.",
            "The same release with the same bytes is left alone; with other bytes it is refused unless --replace is given, "
                + "for devices may have it already. Whatever fails, models.json is the old one or the new one.",
        ],
        arguments: [files],
        options: [
            PublishPlace.option, PublishPlace.publicAddress, family, version, variant, with, member,
        ] + PublishNotes.options + [
            single, canaryPrompt, canaryPattern, canaryTokens, canaryRate, canaryMemory, replace, dryRun, Option.events,
        ] + SigningChoice.options,
        examples: [
            .init(
                "hearth publish lupus-diary-v1.1.0-q4_k_m.gguf --to ./origin",
                "Family, version and variant are in the name."),
            .init(
                "hearth publish model.gguf --family lupus-diary --version 1.1.0 --variant q8_0 --to ./origin",
                "Or say them."),
            .init(
                "hearth publish lupus-see-v1.0.0-q4_k_m.gguf mmproj-f16.gguf --to ./origin",
                "A model and its projector: one release."),
            .init(
                "hearth publish lupus-diary-v1.1.0-q8_0-00001-of-00004.gguf --to ./origin", "A model in four parts."),
            .init(
                "hearth publish lupus-diary-v1.2.0-q4_k_m.gguf --rollout 10 --to ./origin",
                "For a tenth of the devices; later the same with --rollout 100."),
            .init("hearth publish leaf-v2.0.0.zip --to ./origin", "A model in an archive."),
            .init(
                "hearth publish lupus-diary-v1.2.0-q4_k_m.gguf --to r2:models --public https://models.example.com",
                "To a bucket; then the public address is examined."),
            .init(
                "hearth publish lupus-diary-v1.2.0-q4_k_m.gguf --to ./origin --sign",
                "Signed, after hearth trust init."),
            .init(
                "hearth publish Leaf_1.0.0.mlpackage --classes classes/v1.txt --single manifest.json --to r2:leaf",
                "A folder, and a manifest of this one model."),
        ])

    let request: PublishRequest
    let place: PublishPlace
    let format: EventFormat
    let signing: SigningChoice

    init(_ values: ParsedArguments) throws {
        place = try PublishPlace(values, Self.declaration)
        var request = PublishRequest(files: try values.values(Self.files).map { Path($0) })
        request.family = try values.value(Self.family)
        request.version = try values.value(Self.version)
        request.variant = try values.value(Self.variant)
        request.replaces = values.has(Self.replace)
        request.isDryRun = values.has(Self.dryRun)
        for companion in try values.values(Self.with) {
            request.companions.append(companion.path)
            request.roles[companion.path] = companion.role
        }
        request.member = try values.value(Self.member)
        guard request.member == nil || request.files.contains(where: { ArchiveFormat(fileName: $0.string) != nil })
        else {
            throw UsageError("--member needs an archive among the files", hint: Self.declaration.hint())
        }
        request.singleManifest = try values.value(Self.single)
        request.publicAddress = place.publicURL
        try PublishNotes.apply(values, to: &request)
        request.canary = try Self.canary(values)
        self.request = request
        signing = try SigningChoice(values, Self.declaration)
        format = try values.value(.events) ?? .text
    }

    private static func companion(_ word: String) -> (path: Path, role: FileRole?)? {
        let roles: [FileRole] = [.projector, .labels, .tokenizer, .other]
        for role in roles where word.hasPrefix("\(role.rawValue)=") {
            let path = word.dropFirst(role.rawValue.count + 1)
            return path.isEmpty ? nil : (Path(String(path)), role)
        }
        return word.isEmpty ? nil : (Path(word), nil)
    }

    private static func canary(_ values: ParsedArguments) throws -> Canary? {
        let pattern = try values.value(canaryPattern)
        let rate = try values.value(canaryRate)
        let memory = try values.value(canaryMemory)
        let tokens = try values.value(canaryTokens)
        guard let prompt = try values.value(canaryPrompt) else {
            guard pattern == nil, rate == nil, memory == nil, tokens == nil else {
                throw UsageError("a canary needs --canary-prompt", hint: declaration.hint())
            }
            return nil
        }
        return Canary(
            prompt: prompt, pattern: pattern, maximumNewTokens: tokens ?? 16,
            minimumTokensPerSecond: rate.map { Double($0) }, maximumMemoryBytes: memory)
    }

    func run(in context: CommandContext) async throws {
        let console = context.console
        if format == .json { console.speakEvents() }
        let opened = try await place.open(context)
        let reporters = Locked<[PublishProgress.Step: ProgressReporter]>([:])
        let signer = try await signing.signer(for: opened.target, in: context)
        let publisher = Publisher(target: opened.target, time: context.time, signing: signer)
        let report = try await publisher.publish(
            request,
            onProgress: { [format] progress in
                let reporter = reporters.withLock { reporters in
                    if let reporter = reporters[progress.step] { return reporter }
                    let reporter = ProgressReporter(
                        console: console, label: progress.label, format: format, time: context.time)
                    reporters[progress.step] = reporter
                    return reporter
                }
                reporter.show(
                    TransferProgress(
                        state: .installing, completedBytes: progress.completedBytes, totalBytes: progress.totalBytes))
            })
        console.showBar(nil)
        let found = try await examine(report, opened, context)
        switch format {
        case .json: try console.emit(PublishedEvent(report, found, isDryRun: request.isDryRun))
        case .text:
            try show(report, found, on: console)
            if !request.isDryRun { try await signing.sayWhoSees(opened.target, console) }
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
        guard !request.isDryRun, opened.isBucket || place.publicURL != nil else { return nil }
        let catalog = report.plan.steps.first { $0.kind == .catalog }
        let check = OriginCheck(
            client: opened.client, time: context.time, only: Set(report.items.flatMap { $0.files.map(\.digest) }))
        return try await check.run(opened.url, expected: catalog?.digest, serial: report.serial)
    }

    private func show(_ report: PublishReport, _ found: OriginReport?, on console: Console) throws {
        for item in report.items { try console.print(line(item)) }
        if request.isDryRun {
            for step in report.plan.steps {
                console.say("would send \(step.place)  \(ByteCount(step.size))  \(step.cacheControl)")
            }
        }
        let verb = request.isDryRun ? "would be" : "is"
        console.say(
            report.changesManifest
                ? "\(report.manifest) \(verb) up to date, serial \(report.serial)."
                : "\(report.manifest) was up to date already.")
        if let found { try OriginFindings.show(found, .text, on: console) }
    }

    private func line(_ item: PublishReport.Item) -> String {
        let outcome = request.isDryRun ? "would be \(item.outcome.rawValue)" : item.outcome.rawValue
        var facts = [outcome]
        if item.files.count > 1 { facts.append("\(item.files.count) files") }
        if let packed = item.packedFiles { facts.append(packed == 1 ? "1 file packed" : "\(packed) files packed") }
        if item.isCurrent { facts.append("current") }
        return "\(item.identity)  \(ByteCount(item.size))  \(facts.joined(separator: ", "))"
    }
}
