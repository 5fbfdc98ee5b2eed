import Foundation
import HearthBase
import HearthDelivery

/// `hearth verify`
struct Verify: Command {
    private static let subject = Argument(
        "REF", .modelReference, arity: .optional,
        "family[@version][:variant], or the path of a .gguf file; every installed release without it.")
    private static let repair = Flag("repair", "Fetch what is damaged once more, and only that.")
    private static let format = Option(
        "format", "FORMAT", ValueKind<EventFormat>.choice, default: "text", "text, or json: one event a line.")

    static let declaration = CommandDeclaration(
        "verify", summary: "Hash installed models again and compare",
        discussion: [
            "Reads every byte and compares it with the receipt of the installation; about half a second a gigabyte. For a "
                + ".gguf file it prints its SHA-256, as sha256sum does, and checks the file's header and size.",
            "With --repair, what is damaged or missing is mended: from another release that holds the same file, else from where "
                + "it came from. Of a file with a chunk index only the damaged pieces are fetched. A process that uses the model "
                + "goes on with the file it has. On a metered network nothing is fetched unless you agree, as with pull.",
            "With --format json, events of the kind progress, then one of the kind release or file for each, and last done "
                + "or error.",
        ],
        arguments: [subject], options: [repair, Option.metered, format],
        exitStatuses: [
            (0, "Every byte is what it should be."), (1, "Something is not, or is not installed."),
            (75, "Not now: what is to be fetched cannot be had on this network, or its server cannot be reached."),
        ],
        examples: [
            .init("hearth verify", "Everything that is installed."),
            .init("hearth verify lupus-diary", "Every installed release of one model."),
            .init("hearth verify lupus-diary --repair", "And mend what is not as it should be."),
            .init("hearth verify ./model.gguf", "A file of your own."),
        ])

    let subject: ModelReference?
    let isRepairing: Bool
    let metered: MeteredUse?
    let format: EventFormat

    init(_ values: ParsedArguments) throws {
        subject = try values.optional(Self.subject)
        isRepairing = values.has(Self.repair)
        metered = try values.value(.metered)
        format = try values.value(Self.format) ?? .text
        switch subject {
        case nil, .family, .file: break
        case .manifest, .hub:
            throw UsageError(
                "REF must be an installed model or a .gguf file, not a catalog", hint: Self.declaration.hint())
        }
    }

    func run(in context: CommandContext) async throws {
        if format == .json { context.console.speakEvents() }
        switch subject {
        case .file(let path): try await FileVerification(path: path, format: format).run(on: context.console)
        case .family(let family, let version, let variant):
            try await verify(
                InstalledName(family: family, version: version, variant: variant), in: context)
        default: try await verify(nil, in: context)
        }
        if format == .json { try context.console.emit(["event": "done"]) }
    }

    private func verify(_ name: InstalledName?, in context: CommandContext) async throws {
        let manager = try await context.manager()
        let store = manager.store
        let inventory = try await store.inventory()
        let identities = (inventory.releases.map(\.identity) + inventory.damaged.map(\.identity))
            .filter { name?.fits($0) ?? true }
        guard !identities.isEmpty else {
            guard let name else { return context.console.say("No model is installed.") }
            throw StoreError(
                .notInstalled, "\(name) is not installed",
                context: ErrorContext(
                    model: name.description, remedy: "Bring it with 'hearth pull \(name)', or see 'hearth list'."))
        }
        var damaged: [ReleaseIdentity] = []
        for identity in identities {
            let reporter = ProgressReporter(
                console: context.console, label: identity.description, format: format, time: context.time)
            do {
                if isRepairing { try await repair(identity, manager, reporter, in: context) }
                let report = try await store.verify(identity) { reporter.show($0) }
                reporter.end()
                try show(report, on: context.console)
                if !report.isIntact { damaged.append(identity) }
            } catch let error as StoreError where error.code == .receiptDamaged {
                reporter.end()
                damaged.append(identity)
                context.console.complain("\(identity): \(error.message)")
            }
        }
        guard let first = damaged.first else { return }
        throw StoreError(
            .releaseDamaged,
            damaged.count == 1 ? "\(first) is damaged" : "\(damaged.count) of \(identities.count) releases are damaged",
            context: ErrorContext(
                model: first.description,
                remedy: isRepairing
                    ? "Remove it with 'hearth remove \(first)' and bring it again with 'hearth pull \(first)'."
                    : "Mend it with 'hearth verify \(first) --repair'."))
    }

    /// Mends a release; one that is intact is only read.
    private func repair(
        _ identity: ReleaseIdentity, _ manager: ModelManager, _ reporter: ProgressReporter, in context: CommandContext
    ) async throws {
        var options = PullOptions()
        options.metered = try await context.meteredUse(metered)
        let report = try await context.fetching("what is damaged of \(identity)", options) { options in
            try await manager.repair(identity, options: options) { reporter.show($0) }
        }
        let console = context.console
        guard !report.mended.isEmpty else { return }
        if format == .json { return try console.emit(RepairedEvent(report)) }
        let names = report.mended.map(\.string).joined(separator: ", ")
        console.say("\(identity): mended \(names) with \(ByteCount(report.fetchedBytes)) fetched")
        for other in report.alsoMended { console.say("\(other): mended with it") }
    }

    private func show(_ report: VerificationReport, on console: Console) throws {
        guard format == .text else { return try console.emit(VerifiedEvent(report)) }
        for file in report.files where file.outcome != .intact {
            console.complain("\(report.identity): \(file.expected.name) \(file.outcome.sentence(file.expected))")
        }
        for name in report.unexpected { console.say("\(report.identity): \(name) is not in its receipt") }
        let state = report.isIntact ? (report.isVerified ? "intact" : "intact, unverified") : "damaged"
        try console.print("\(report.identity): \(state)")
    }
}

extension InstalledName: CustomStringConvertible {
    var description: String {
        family.name + (version.map { "@\($0)" } ?? "") + (variant.map { ":\($0)" } ?? "")
    }

    /// Whether a release is one of those the name means.
    func fits(_ identity: ReleaseIdentity) -> Bool {
        identity.family == family && version.map { $0 == identity.version } ?? true
            && variant.map { $0 == identity.variant } ?? true
    }
}

extension VerificationReport.Outcome {
    /// What is wrong with a file, after its name.
    func sentence(_ expected: Receipt.File) -> String {
        switch self {
        case .intact: "is intact"
        case .missing: "is missing"
        case .notAFile: "is not a file"
        case .wrongSize(let size): "has \(size) bytes instead of \(expected.size)"
        case .changed(let digest): "has the SHA-256 \(digest) instead of \(expected.digest)"
        }
    }

    /// The outcome for programs.
    var name: String {
        switch self {
        case .intact: "intact"
        case .missing: "missing"
        case .notAFile: "not-a-file"
        case .wrongSize: "wrong-size"
        case .changed: "changed"
        }
    }
}

/// What hashing a release again showed.
struct VerifiedEvent: Encodable {
    struct File: Encodable {
        let path: String
        let outcome: String
    }

    var event = "release"
    let family: String
    let version: String
    let variant: String?
    let intact: Bool
    let verified: Bool
    let files: [File]
    let unexpected: [String]

    init(_ report: VerificationReport) {
        family = report.identity.family.name
        version = report.identity.version.name
        variant = report.identity.variant?.name
        intact = report.isIntact
        verified = report.isVerified
        files = report.files.map { File(path: $0.expected.name.string, outcome: $0.outcome.name) }
        unexpected = report.unexpected
    }
}

/// What mending a release did.
struct RepairedEvent: Encodable {
    var event = "repaired"
    let family: String
    let version: String
    let variant: String?
    let files: [String]
    let alsoMended: [String]
    let fetchedBytes: UInt64

    init(_ report: RepairReport) {
        family = report.identity.family.name
        version = report.identity.version.name
        variant = report.identity.variant?.name
        files = report.mended.map(\.string)
        alsoMended = report.alsoMended.map(\.description)
        fetchedBytes = report.fetchedBytes
    }
}

/// Hashes a file of the user's own and looks at its header.
struct FileVerification: Sendable {
    let path: Path
    let format: EventFormat

    private struct FileEvent: Encodable {
        var event = "file"
        let path: String
        let sizeBytes: UInt64
        let sha256: String
    }

    /// - Throws: ``FileError``, ``GGUFError``.
    func run(on console: Console) async throws {
        let (digest, size) = try await blocking {
            let fileSystem = LocalFileSystem()
            let file = try fileSystem.open(path, .read)
            return (try fileSystem.digest(ofFile: path), try fileSystem.status(of: file).size)
        }
        switch format {
        case .text: try console.print("\(digest)  \(path)")
        case .json:
            try console.emit(FileEvent(path: path.string, sizeBytes: size, sha256: digest.description))
        }
        let header = try await blocking { try GGUFHeader(file: path) }
        if let minimum = header.tensors?.minimumFileSize, size < minimum {
            throw GGUFError(
                .truncated, "\(path.lastComponent) is cut off: its tensors need \(minimum) bytes, it has \(size)",
                context: ErrorContext(
                    file: path.string, expected: "\(minimum) bytes", found: "\(size) bytes",
                    remedy: "Download the model again."))
        }
        console.say("\(path.lastComponent): \(ModelFacts(header: header, size: size).sentence)")
    }
}
