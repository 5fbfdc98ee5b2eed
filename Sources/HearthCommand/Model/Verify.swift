import Foundation
import HearthBase
import HearthCatalog
import HearthDelivery
import HearthHTTP
import HearthPublishing
import HearthStore

/// `hearth verify`
struct Verify: Command {
    @Argument(
        "REF", .modelReference, arity: .optional,
        "family[@version][:variant], or the path of a .gguf file; every installed release without it.") var subject:
        ModelReference?
    @Flag("repair", "Repair damaged files; fetch or make only those.") var isRepairing
    @Option(.metered) var metered: MeteredUse?
    @Option(.events) var format: EventFormat

    static let declaration = CommandDeclaration(
        "verify", summary: "Hash installed models and compare with their receipts",
        """
        Reads every byte and compares it with the receipt of the installation; about half a second a gigabyte. For a
        .gguf file it prints its SHA-256, as sha256sum does, and checks the file's header and size.

        Artifacts made on this device, such as a quantized model, are read and compared too.

        With --repair, damaged and missing files are repaired: from another release that holds the same file, else from
        their origin. Of a file with a chunk index, only the damaged chunks are fetched. A process that uses the model
        keeps the file it opened. On a metered network nothing is fetched unless you agree, as with pull. Damaged
        artifacts are made again; if that fails, the model is used as published.

        If one release cannot be repaired, the others still are. The status is then 1, or 75 if all failures may pass
        later.

        With --format json, events of the kind progress, then one of the kind release or file for each, failed for each
        of several that could not be read or repaired, and last done or error.

        0: Every byte is as recorded.
        1: A file is damaged, or no such release is installed.
        75: Not now: the network is metered or offline, or the server cannot be reached.

        hearth verify  # Verify all installed models.
        hearth verify lupus-diary  # Verify every installed release of one model.
        hearth verify lupus-diary --repair  # Repair what is damaged.
        hearth verify ./model.gguf  # Hash and check a file of your own.
        """)

    func validate() throws {
        switch subject {
        case nil, .family, .file: break
        case .manifest, .hub, .registry:
            throw UsageError("REF must be an installed model or a .gguf file, not a catalog")
        }
    }

    func run(in context: CommandContext) async throws {
        if format == .json { context.console.speakEvents() }
        switch subject {
        case .file(let path): try await verify(file: path, on: context.console)
        case .family(let family, let version, let variant):
            try await verify(
                ReleaseChoice(family: family, version: version, variant: variant), in: context)
        default: try await verify(nil, in: context)
        }
        if format == .json { try context.console.emit(["event": "done"]) }
    }

    private func verify(_ name: ReleaseChoice?, in context: CommandContext) async throws {
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
                    model: name.description, remedy: "Pull it first."))
        }
        var options = PullOptions()
        if isRepairing { options.metered = try await context.meteredUse(metered) }
        var (damaged, failures): ([ReleaseIdentity], [any HearthFailure]) = ([], [])
        for identity in identities {
            let reporter = ProgressDisplay(
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
                try FailureRenderer.report(failure, of: identity.description, format, on: context.console)
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
                    + (isRepairing ? "could not be repaired" : "are damaged or could not be read"),
                disposition: canWait ? .tryLater : .failed, underlying: first)
        }
        guard let first = damaged.first else { return }
        throw StoreError(
            .releaseDamaged,
            damaged.count == 1 ? "\(first) is damaged" : "\(damaged.count) of \(count) releases are damaged",
            context: ErrorContext(
                model: first.description,
                remedy: isRepairing
                    ? "Remove it with 'hearth remove \(first)' and pull it again with 'hearth pull \(first)'."
                    : "Repair it with 'hearth verify \(first) --repair'."))
    }

    /// Repairs a release; only reads an intact one.
    private func repair(
        _ identity: ReleaseIdentity, _ manager: ModelManager, _ options: PullOptions, _ reporter: ProgressDisplay,
        in context: CommandContext
    ) async throws {
        let report = try await context.fetching("the damaged files of \(identity)", options) { options in
            try await manager.repair(identity, options: options) { reporter.show($0) }
        }
        let console = context.console
        guard !report.repaired.isEmpty || !report.dropped.isEmpty else { return }
        if format == .json { return try console.emit(RepairedEvent(report)) }
        if !report.repaired.isEmpty {
            let names = report.repaired.map(\.string).joined(separator: ", ")
            console.say("\(identity): repaired \(names) with \(ByteCount(report.fetchedBytes)) fetched")
        }
        for other in report.alsoRepaired { console.say("\(other): repaired with it") }
        for artifact in report.dropped {
            console.say("\(identity): \(artifact.path.lastComponent) was damaged and is removed")
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

extension ReleaseChoice {
    /// The releases that match the name.
    func choose(from identities: [ReleaseIdentity]) -> [ReleaseIdentity] {
        identities.filter { $0.family == family }.named(version, variant)
    }
}
