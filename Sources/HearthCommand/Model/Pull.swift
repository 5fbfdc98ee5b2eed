import Foundation
import Hearth
import HearthBase
import HearthCatalog
import HearthDelivery
import HearthHTTP
import HearthStore
import HearthTransfer

/// `hearth pull`
struct Pull: Command {
    @Argument(
        "REF", .modelReference, arity: .optional,
        "family[@version][:variant] of a configured origin or of the catalog, the address of a models.json with #family "
            + "unless it has only one, the path of a models.json, a .gguf file or a folder, a repository of the Hugging Face Hub: "
            + "org/repo[@revision][:quantization, file or patterns], or the address of its page; or a model of an OCI registry: "
            + "oci://host/repository[:tag][@digest].")
    var reference: ModelReference?
    @Option(
        "version", "V", ValueKind("a version") { ReleaseVersion($0) }, "Take this version, not the publisher's choice.")
    var version: ReleaseVersion?
    @Option(
        "variant", "Q", ValueKind("a variant such as q4_k_m") { Variant($0.lowercased()) },
        "Take this variant, not the largest that fits this device.") var variant: Variant?
    @Option(
        "family", "F", ValueKind("a name of small letters, digits, '.', '-' and '_'") { Family($0) },
        default: "from the file's name", "The family of a file of your own.") var family: Family?
    @Flag("no-activate", "Install it, but keep the active release active.") var noActivate
    @Flag("no-probe", "Make it active without a probe.") var noProbe
    @Option(
        "limit-rate", "BYTES/s", .byteCount, default: "no limit", "Fetch at most so many bytes a second, such as 2M.")
    var rate: UInt64?
    @Option(.metered) var metered: MeteredUse?
    @Flag("allow-unverified", "Accept files for which the publisher gives no digest.") var allowUnverified
    @Flag("allow-downgrade", "Accept a version older than the active one without naming it.") var allowDowngrade
    @Flag("allow-stale", "Install from a catalog past its date.") var allowStale
    @Flag(.ignoreMemory) var ignoreMemory
    @Flag(.refresh) var refresh
    @Option(.events) var format: EventFormat

    static let declaration = CommandDeclaration(
        "pull", summary: "Download and install a model",
        """
        Fetches the model, checks its bytes against the publisher's digest, installs it and makes it the active release
        of its family. Files on this device are not fetched again.

        Without REF, the model of the catalog that suits this device is offered, and fetched after a yes at a terminal:
        'hearth list --available' lists the catalog.

        A repository of the Hugging Face Hub without a file means its model: the GGUF quantization that suits this
        device, else all files of a safetensors or ONNX model. Patterns, separated by commas, choose the files that match
        one of them. 'hearth search' finds repositories. HF_TOKEN gives access to private and gated ones; HF_ENDPOINT
        names another hub, which is then asked for addresses of huggingface.co too. Files in the cache of the Hub's own
        client are hashed and used.

        A model of a registry may be in the form of ModelPack, Docker Model Runner or Ollama. The log-ins are those of
        container tools: config.json in $DOCKER_CONFIG, else in ~/.docker, with its credential helpers. A tag that moves
        is an update.

        An interrupted pull keeps the received bytes; the same command continues with them.

        On a metered network, where bytes cost money, nothing is fetched unless you agree: at a terminal you are asked,
        with the size. Files and addresses of this machine are always read.

        With --format json, one object a line: event is progress (phase, completedBytes, totalBytes, bytesPerSecond,
        secondsLeft, connections, source, waitingFor), and last done or error.

        0: It is installed.
        1: It failed; see the code.
        75: Not now: the origin cannot be reached, or the network is metered or offline.
        130: Interrupted; received bytes are kept.

        hearth pull  # The model that suits this device, after a yes.
        hearth pull smollm2-135m-instruct  # The publisher's choice, in the variant that suits this device.
        hearth pull lupus-diary@1.1.0:q4_k_m --limit-rate 2M  # One version and variant, slowly.
        hearth pull https://models.example.org/models.json#lupus-diary  # From an address.
        hearth pull org/model-GGUF:Q4_K_M  # One quantization of a repository of the Hub.
        hearth pull https://huggingface.co/org/model-GGUF  # The same, as its page is called.
        hearth pull "hf:org/model:*.safetensors,*.json"  # The files that match one of two patterns.
        hearth pull oci://registry.example.org/models/lupus-diary:1.1.0  # From an OCI registry.
        hearth pull ./lupus-diary-v1.1.0-q4_k_m.gguf  # A file of your own.
        """)

    func validate() throws {
        let named = try named
        if case .file? = named { return }
        guard family == nil else {
            throw UsageError("--family is for a file of your own", hint: Self.declaration.hint())
        }
    }

    private var named: ModelReference? {
        get throws {
            guard let reference else {
                guard version == nil, variant == nil else {
                    throw UsageError("--version and --variant need a model", hint: Self.declaration.hint())
                }
                return nil
            }
            return try reference.naming(version: version, variant: variant)
        }
    }

    private var options: PullOptions {
        var options = PullOptions()
        (options.activate, options.probes) = (!noActivate, !noProbe)
        (options.allowUnverified, options.allowDowngrade) = (allowUnverified, allowDowngrade)
        (options.allowStale, options.ignoreMemory) = (allowStale, ignoreMemory)
        (options.refresh, options.retryHeldBack) = (refresh, true)
        (options.bytesPerSecond, options.family) = (rate, family)
        return options
    }

    func run(in context: CommandContext) async throws {
        if format == .json { context.console.speakEvents() }
        var options = options
        options.metered = try await context.meteredUse(metered)
        let named = try named
        if named == nil, !context.hasPerson {
            throw try await context.modelNeeded(Self.declaration)
        }
        let manager = try await context.manager(ignoresMemory: options.ignoreMemory)
        if let named { return try await context.fetch(named, with: manager, options: options, format: format) }
        let resolved: Offer
        if let offer = try await context.confirmed(
            try await manager.recommended(), isRecommended: true, from: manager, options)
        {
            resolved = offer
        } else {
            return context.console.say("Nothing was fetched.")
        }
        try await context.fetch(resolved, with: manager, options: options, format: format)
    }
}

extension CommandContext {
    /// Pulls what a reference means, and says what came of it.
    func fetch(
        _ named: ModelReference, with manager: ModelManager, options: PullOptions, format: EventFormat
    ) async throws {
        try await fetch(
            try await manager.resolve(named, options: options), with: manager, options: options, format: format)
    }

    /// Pulls an offer, and says what came of it.
    fileprivate func fetch(
        _ resolved: Offer, with manager: ModelManager, options: PullOptions, format: EventFormat
    ) async throws {
        resolved.freshness.flatMap { CachedList(resolved.location?.host() ?? "the origin", $0) }
            .map { console.say($0.sentence) }
        warn(
            ExpiringSignatures(resolved.origin?.name ?? "", until: resolved.signedUntil, now: time.now))
        for passed in resolved.passedOver {
            console.say("\(passed.identity) is passed over: it \(passed.objection.sentenceEnd).")
        }
        if case .noEngine? = resolved.objection {
            console.say("\(resolved.release.identity) \(resolved.objection?.sentenceEnd ?? "").")
        }
        if let note = resolved.heldBackNote { console.say("\(note) It is tried again.") }
        if let choice = resolved.reason.sentence(resolved.release.identity) { console.say(choice) }
        let outcome = try await pull(resolved, with: manager, options: options, format: format)
        if format == .json { try console.emit(PullEvent.done(PulledRelease(outcome))) }
    }

    /// Pulls; asks first if the network is metered and the options say so.
    /// - Throws: errors of the pull; an interruption says what is kept.
    func pull(
        _ resolved: Offer, with manager: ModelManager, options: PullOptions, format: EventFormat
    ) async throws -> PullOutcome {
        let what = "\(ByteCount(resolved.release.totalSize)) of \(resolved.release.identity.family)"
        return try await fetching(what, options) { options in
            try await attempt(resolved, with: manager, options: options, format)
        }
    }

    private func attempt(
        _ resolved: Offer, with manager: ModelManager, options: PullOptions, _ format: EventFormat
    ) async throws -> PullOutcome {
        let label = resolved.release.identity.description
        let reporter = ProgressDisplay(console: console, label: label, format: format, time: time)
        defer { reporter.end() }
        let last = Locked<TransferProgress?>(nil)
        do {
            let show: @Sendable (TransferProgress) -> Void = { progress in
                last.withLock { $0 = progress }
                reporter.show(progress)
            }
            let resident = ResidentPull(context: self)
            let outcome =
                if let outcome = try await resident.pull(resolved, options, with: manager, progress: show) {
                    outcome
                } else {
                    try await manager.pull(resolved, options: options, progress: show)
                }
            console.say(sentence(outcome))
            return outcome
        } catch is CancellationError {
            let going = await Task { await continuing(resolved.release.identity, in: manager) }.value
            throw CommandError.interrupted(kept: going ?? kept(last.withLock { $0 }))
        }
    }

    /// Says which process goes on fetching a release after this command, and how to end that; `nil` for none.
    private func continuing(_ identity: ReleaseIdentity, in manager: ModelManager) async -> String? {
        // Without the list, the interruption says what this command knows.
        let held = (try? await manager.transfers.list())?.first { $0.release == identity && $0.state.isHeld }
        guard let held, case .held(_, let holder) = held.state, holder.process != ProcessIdentity.current.number else {
            return nil
        }
        return "\(holder) goes on fetching it, since another request waits for it: `hearth transfers cancel "
            + "\(held.shortKey)` ends that and deletes its bytes"
    }

    private func sentence(_ outcome: PullOutcome) -> String {
        let release = outcome.release
        let state = release.isActive ? "installed and active" : "installed, but not active"
        let unverified = release.receipt.isVerified ? "" : ", unverified"
        switch outcome {
        case .installed(_, let bytes):
            return "\(release.identity) is \(state)\(unverified); \(ByteCount(bytes)) were fetched."
        case .alreadyInstalled: return "\(release.identity) is \(state)\(unverified) already; nothing was fetched."
        }
    }

    private func kept(_ progress: TransferProgress?) -> String? {
        guard let progress, progress.completedBytes > 0 else { return nil }
        return "\(progress.bytesText) are kept, and the same command continues with them"
    }
}

extension ModelReference {
    /// The reference with a version and variant from options.
    /// - Throws: ``UsageError`` if the reference names others, or cannot have any.
    fileprivate func naming(version: ReleaseVersion?, variant: Variant?) throws -> ModelReference {
        guard version != nil || variant != nil else { return self }
        switch self {
        case .family(let family, let ownVersion, let ownVariant):
            return .family(
                family, version: try Self.one(ownVersion, version, "--version"),
                variant: try Self.one(ownVariant, variant, "--variant"))
        case .manifest(let url, let family, let ownVersion, let ownVariant):
            return .manifest(
                url, family: family, version: try Self.one(ownVersion, version, "--version"),
                variant: try Self.one(ownVariant, variant, "--variant"))
        case .file, .hub, .registry:
            throw UsageError(
                "--version and --variant choose among a catalog's releases; a file or a repository says in its name what it is",
                hint: Pull.declaration.hint())
        }
    }

    private static func one<Value: Equatable>(_ own: Value?, _ option: Value?, _ name: String) throws -> Value? {
        if let own, let option, own != option {
            throw UsageError("\(name) is not what the reference says", hint: Pull.declaration.hint())
        }
        return own ?? option
    }
}

extension Offer.Reason {
    /// Why a variant was chosen, if that needs a sentence.
    func sentence(_ identity: ReleaseIdentity) -> String? {
        switch self {
        case .asked, .only: nil
        case .largestThatFits(let variants):
            "\(identity): the largest of \(variants.map(\.name).joined(separator: ", ")) that fits this device."
        case .suited(let variants):
            "\(identity): of \(variants.map(\.name).joined(separator: ", ")) the one that suits this device."
        case .nearest(let wanted):
            "\(identity): the repository has no \(wanted); this is its only quantization."
        case .coarse(let variants):
            "\(identity): coarse, with fewer than four bits a weight; nothing finer of "
                + "\(variants.map(\.name).joined(separator: ", ")) fits this device."
        case .smallestAfterPreparation(let variants):
            "\(identity): the smallest of \(variants.map(\.name).joined(separator: ", ")) that fits this device after preparation."
        case .smallestThoughNoneFits(let variants, let needed):
            "\(identity): the smallest of \(variants.map(\.name).joined(separator: ", ")), but it needs "
                + "\(ByteCount(needed)) of memory, more than this device has."
        }
    }
}
