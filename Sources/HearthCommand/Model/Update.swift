import HearthBase
import HearthCatalog
import HearthDelivery
import HearthHTTP
import HearthStore

/// `hearth update`
struct Update: Command {
    @Argument(
        "FAMILY", .installedFamily, arity: .optional,
        "The model to update; all models without it.") var family: Family?
    @Flag("check", "Only show the updates; fetch nothing.") var isCheckOnly
    @Flag("no-probe", "Make new releases active without a probe.") var noProbe
    @Flag(.refresh) var refresh
    @Option(.metered) var metered: MeteredUse?
    @Option(.events) var format: EventFormat

    static let declaration = CommandDeclaration(
        "update", summary: "Update installed models to their publishers' current versions",
        """
        A model keeps its variant. An older version than the active one is reported, not installed. A pinned model
        stays, and so does one whose new release is held back because it failed on this device. Of a repository of the
        Hugging Face Hub, the current commit of its revision is the new version.

        For each model it shows the bytes to fetch and the bytes already on this device, or why the model stays.

        If one update fails, the others are still installed. The status is then 1, or 75 if all failures may pass later.

        With --format json, an event of the kind finding for every model (family, active, offered, reason, detail, list,
        fetchBytes, sharedBytes, sharedFiles), then as for pull, failed for each of several that could not be installed,
        and last done or error.

        hearth update --check  # Show whether there are updates.
        hearth update lupus-diary  # Fetch and activate it for one model.
        """)

    func run(in context: CommandContext) async throws {
        if format == .json { context.console.speakEvents() }
        let manager = try await context.manager()
        let findings = try await manager.updates(of: family, refresh ? .now : .asPublished)
        if let family, findings.isEmpty {
            throw StoreError(
                .notInstalled, "\(family) is not installed",
                context: ErrorContext(model: family.name, remedy: "Pull it first."))
        }
        for finding in findings {
            switch format {
            case .json: try context.console.emit(FindingEvent(finding))
            case .text: try context.console.print(finding.sentence)
            }
        }
        if findings.isEmpty { context.console.say("No model is installed.") }
        for expiring in Set(findings.compactMap(\.expiring)) { context.warn(expiring) }
        if !isCheckOnly {
            var options = PullOptions()
            options.probes = !noProbe
            options.metered = try await context.meteredUse(metered)
            try await bring(findings.compactMap(\.offer), with: manager, options: options, in: context)
        }
        if format == .json { try context.console.emit(["event": "done"]) }
    }

    /// Fetches updates in sequence; continues after a failure.
    /// - Throws: the failure of a single update; else `updates-failed`, after reporting each failure.
    private func bring(
        _ updates: [Offer], with manager: ModelManager, options: PullOptions, in context: CommandContext
    ) async throws {
        var failures: [any HearthFailure] = []
        for resolved in updates {
            do {
                _ = try await context.pull(resolved, with: manager, options: options, format: format)
            } catch let failure as any HearthFailure where updates.count > 1 && !Task.isCancelled {
                try FailureRenderer.report(
                    failure, of: resolved.release.identity.description, format, on: context.console)
                failures.append(failure)
            }
        }
        guard let first = failures.first else { return }
        throw CommandError(
            .updatesFailed, "\(failures.count) of \(updates.count) updates could not be brought",
            disposition: failures.allSatisfy { $0.disposition == .tryLater } ? .tryLater : .failed, underlying: first)
    }
}

extension UpdateFinding {
    /// The finding as a sentence.
    var sentence: String {
        let name = "\(family)" + (active.map { "@\($0)" } ?? "")
        switch reason {
        case .newVersion(let offer):
            return "\(name): \(offer.release.identity.version) is available" + (plan.map { "; \($0.sentence)" } ?? "")
        case .noUpdate(.notEligible(let identity, let objection)):
            return "\(name): \(identity.version) \(objection.sentenceEnd)"
        case .noUpdate(let reason): return "\(name): \(reason.reason)"
        }
    }
}

extension UpdatePlan {
    /// The bytes to fetch and the bytes shared.
    var sentence: String {
        let fetched = "\(ByteCount(fetchedBytes)) to fetch"
        guard !sharedFiles.isEmpty else { return fetched }
        let names = sharedFiles.prefix(3).map(\.string).joined(separator: ", ")
        let more = sharedFiles.count > 3 ? " and \(sharedFiles.count - 3) more" : ""
        return "\(fetched), \(ByteCount(sharedBytes)) are here already (\(names)\(more))"
    }
}

/// A finding as an event.
struct FindingEvent: Encodable {
    var event = "finding"
    let family: String
    let active: String?
    let offered: String?
    let reason: String
    /// The reason as a sentence, `nil` for a new version.
    let detail: String?
    /// The freshness of the source's list: fetched, revalidated, fresh, cached or bundled.
    let list: String?
    let fetchBytes: UInt64?
    let sharedBytes: UInt64?
    let sharedFiles: [String]?

    init(_ finding: UpdateFinding) {
        family = finding.family.name
        active = finding.active?.name
        list = finding.freshness?.code
        fetchBytes = finding.plan?.fetchedBytes
        sharedBytes = finding.plan?.sharedBytes
        sharedFiles = finding.plan?.sharedFiles.map(\.string)
        switch finding.reason {
        case .newVersion(let offer):
            (offered, reason, detail) = (offer.release.identity.version.name, "new-version", nil)
        case .noUpdate(let why):
            (reason, detail) = (why.code, why.reason)
            offered =
                switch why {
                case .upToDate: finding.active?.name
                case .offeredIsOlder(let version): version.name
                case .notEligible(let identity, _): identity.version.name
                case .pinned, .notOffered, .otherOrigin, .severalOrigins, .catalogStale, .unreachable: nil
                }
        }
    }
}
