import Foundation
import HearthBase
import HearthCatalog
import HearthDelivery
import HearthHTTP
import HearthStore

/// `hearth verify`
struct Verify: Command {
    private static let subject = Argument(
        "REF", .modelReference, arity: .optional,
        "family[@version][:variant], or the path of a .gguf file; every installed release without it.")
    private static let repair = Flag("repair", "Fetch or make what is damaged once more, and only that.")
    private static let format = Option(
        "format", "FORMAT", ValueKind<EventFormat>.choice, default: "text", "text, or json: one event a line.")

    static let declaration = CommandDeclaration(
        "verify", summary: "Hash installed models again and compare",
        discussion: [
            "Reads every byte and compares it with the receipt of the installation; about half a second a gigabyte. For a "
                + ".gguf file it prints its SHA-256, as sha256sum does, and checks the file's header and size.",
            "What was made of a model for this device, such as one in fewer bits, is read too and compared with the record of it.",
            "With --repair, what is damaged or missing is mended: from another release that holds the same file, else from where "
                + "it came from. Of a file with a chunk index only the damaged pieces are fetched. A process that uses the model "
                + "goes on with the file it has. On a metered network nothing is fetched unless you agree, as with pull. What was "
                + "made for this device is made again; where that fails, the model is used as it came.",
            "A release that cannot be mended keeps no other back; the status then is that of a failure, 75 where all of them may "
                + "work later.",
            "With --format json, events of the kind progress, then one of the kind release or file for each, failed for each of "
                + "several that could not be read or mended, and last done or error.",
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
        let all = inventory.releases.map(\.identity) + inventory.damaged.map(\.identity)
        let identities = name?.choose(from: all) ?? all
        guard !identities.isEmpty else {
            guard let name else { return context.console.say("No model is installed.") }
            throw StoreError(
                .notInstalled, "\(name) is not installed",
                context: ErrorContext(
                    model: name.description, remedy: "Bring it with 'hearth pull \(name)', or see 'hearth list'."))
        }
        var options = PullOptions()
        if isRepairing { options.metered = try await context.meteredUse(metered) }
        var (damaged, failures): ([ReleaseIdentity], [any HearthFailure]) = ([], [])
        for identity in identities {
            let reporter = ProgressReporter(
                console: context.console, label: identity.description, format: format, time: context.time)
            do {
                defer { reporter.end() }
                if isRepairing { try await repair(identity, manager, options, reporter, in: context) }
                let report = try await manager.verify(identity) { reporter.show($0) }
                reporter.end()
                try show(report, on: context.console)
                if !report.isIntact { damaged.append(identity) }
            } catch let error as StoreError where error.code == .receiptDamaged {
                damaged.append(identity)
                context.console.complain("\(identity): \(error.message)")
            } catch let failure as any HearthFailure where identities.count > 1 && !Task.isCancelled {
                // Continue with the other releases.
                let rendered = FailureRenderer(failure, of: identity.description)
                if format == .json { try context.console.emit(rendered.partEvent(of: identity.description)) }
                for line in rendered.lines { context.console.complain(line) }
                failures.append(failure)
            }
        }
        try conclude(identities.count, damaged, failures)
    }

    /// - Throws: `verification-failed` if some could not be read or repaired; else `release-damaged` for damaged
    ///   ones.
    private func conclude(_ count: Int, _ damaged: [ReleaseIdentity], _ failures: [any HearthFailure]) throws {
        if let first = failures.first {
            let canWait = damaged.isEmpty && failures.allSatisfy { $0.disposition == .tryLater }
            throw CommandError(
                .verificationFailed,
                "\(failures.count + damaged.count) of \(count) releases "
                    + (isRepairing ? "could not be mended" : "are damaged or could not be read"),
                disposition: canWait ? .tryLater : .failed, underlying: first)
        }
        guard let first = damaged.first else { return }
        throw StoreError(
            .releaseDamaged,
            damaged.count == 1 ? "\(first) is damaged" : "\(damaged.count) of \(count) releases are damaged",
            context: ErrorContext(
                model: first.description,
                remedy: isRepairing
                    ? "Remove it with 'hearth remove \(first)' and bring it again with 'hearth pull \(first)'."
                    : "Mend it with 'hearth verify \(first) --repair'."))
    }

    /// Repairs a release; only reads an intact one.
    private func repair(
        _ identity: ReleaseIdentity, _ manager: ModelManager, _ options: PullOptions, _ reporter: ProgressReporter,
        in context: CommandContext
    ) async throws {
        let report = try await context.fetching("what is damaged of \(identity)", options) { options in
            try await manager.repair(identity, options: options) { reporter.show($0) }
        }
        let console = context.console
        guard !report.mended.isEmpty || !report.dropped.isEmpty else { return }
        if format == .json { return try console.emit(RepairedEvent(report)) }
        if !report.mended.isEmpty {
            let names = report.mended.map(\.string).joined(separator: ", ")
            console.say("\(identity): mended \(names) with \(ByteCount(report.fetchedBytes)) fetched")
        }
        for other in report.alsoMended { console.say("\(other): mended with it") }
        for artifact in report.dropped {
            console.say("\(identity): \(artifact.path.lastComponent) was damaged and is gone")
        }
        if let remade = report.remade { console.say("\(identity): made again: \(remade.recipe.summary)") }
    }

    private func show(_ report: VerificationReport, on console: Console) throws {
        guard format == .text else { return try console.emit(VerifiedEvent(report)) }
        for file in report.files where file.outcome != .intact {
            console.complain(
                "\(report.identity): \(file.expected.name) \(file.outcome.sentence(size: file.expected.size, digest: file.expected.digest))"
            )
        }
        for check in report.artifacts where check.outcome != .intact {
            console.complain(
                "\(report.identity): \(check.artifact.path.lastComponent), made from it for this device, "
                    + check.outcome.sentence(size: check.artifact.size, digest: check.artifact.digest))
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

    /// The releases that match the name.
    func choose(from identities: [ReleaseIdentity]) -> [ReleaseIdentity] {
        identities.filter { $0.family == family }.named(version, variant)
    }
}
