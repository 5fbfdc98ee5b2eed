import Foundation
import Hearth
import HearthBase
import HearthCatalog
import HearthDelivery
import HearthPublishing
import HearthStore

/// `hearth show`
struct Show: Command {
    @Argument(
        "REF", .modelReference,
        "An installed model, the path of a .gguf file, or an offered model: a family or the address of a models.json.")
    var reference: ModelReference
    @Option(.listing) var format: ListingFormat

    static let declaration = CommandDeclaration(
        "show", summary: "Show the facts of a model",
        """
        The facts of an installed model come from this device, without the network; those of another from its
        publisher's catalog and at most 16 MiB of its file; those of a .gguf file from its header.

        The memory needed is predicted for this device and the configured context, cacheType and flashAttention. Models
        may use seven eighths of the memory; of less than 2 GiB, all but 256 MiB.

        hearth show lupus-diary  # The active release, else the offered one.
        hearth show ./model.gguf --format json  # The header of a file.
        """)

    func run(in context: CommandContext) async throws {
        switch reference {
        case .file(let path):
            let facts = try await Self.facts(of: path, loading: path, context)
            try show(ShownModel(file: path.absolute.string, model: facts), on: context.console)
        case .family(let family, let version, let variant):
            let manager = try await context.manager()
            let name = ReleaseChoice(family: family, version: version, variant: variant)
            if let release = try await installed(name, manager) {
                try show(try await shown(release, manager, context), on: context.console)
            } else {
                try show(try await offered(manager, context), on: context.console)
            }
        case .hub(let repository):
            let manager = try await context.manager()
            guard let release = try await manager.installed(repository) else {
                return try show(try await offered(manager, context), on: context.console)
            }
            try show(try await shown(release, manager, context), on: context.console)
        case .registry(let model):
            let manager = try await context.manager()
            guard let release = try await manager.installed(model) else {
                return try show(try await offered(manager, context), on: context.console)
            }
            try show(try await shown(release, manager, context), on: context.console)
        case .manifest: try show(try await offered(try await context.manager(), context), on: context.console)
        }
    }

    private func shown(
        _ release: InstalledRelease, _ manager: ModelManager, _ context: CommandContext
    ) async throws -> ShownModel {
        let state = try await manager.store.state(of: release.identity.family)
        // Invalid settings are an error here; damaged weights are left to `verify`.
        let artifact = try await context.artifact(of: release, in: manager.store)
        var shown = await ShownModel(release, state, artifact, context)
        shown.refusedArtifact = try await context.refusedArtifact(of: release, in: manager.store)?.text
        return shown
    }

    /// Shows an offered release, with facts from its file's header.
    private func offered(_ manager: ModelManager, _ context: CommandContext) async throws -> ShownModel {
        let resolved = try await manager.resolve(reference)
        var shown = ShownModel(resolved)
        do {
            guard
                let model = try await RemoteModel.read(
                    resolved.release, head: { try await manager.head(of: $0, until: $1) })
            else { return shown }
            let configuration = try await context.configuration
            shown.model = await blocking {
                ModelFacts(
                    remote: model, of: resolved.release, configuration: configuration, on: context.device())
            }
        } catch let error as CancellationError {
            throw error
        } catch {
            // Continue with the facts of the catalog.
            Log.write(.info, "show", "the front of \(resolved.release.file.name) cannot be read: \(error)")
        }
        return shown
    }

    /// The installed release for a name, `nil` if none is installed.
    private func installed(_ name: ReleaseChoice, _ manager: ModelManager) async throws -> InstalledRelease? {
        let installed = try await manager.installed()
        let named = Set(name.choose(from: installed.map(\.identity)))
        let releases = installed.filter { named.contains($0.identity) }
        return releases.first(where: \.isActive) ?? releases.last
    }

    /// - Parameters:
    ///   - opened: the weights that a conversation opens: these or their artifact.
    ///   - family: the family of a release; `nil` for a file.
    static func facts(
        of path: Path, loading opened: Path, projector: Path? = nil, family: Family? = nil, _ context: CommandContext
    ) async throws -> ModelFacts {
        let configuration = try await context.configuration.engine(of: family)
        return try await blocking {
            var facts = try ModelFacts(file: path)
            facts.memory = MemoryFacts(
                weights: opened, projector: projector, configuration: configuration, on: context.device())
            return facts
        }
    }

    private func show(_ model: ShownModel, on console: Console) throws {
        switch format {
        case .json: try console.print(JSON.pretty(model))
        case .table: try console.print(model.rows)
        }
    }
}

/// All facts known about a model.
struct ShownModel: Encodable, Sendable {
    struct File: Encodable, Sendable {
        let path: String
        let role: String
        let sizeBytes: UInt64
        let sha256: String?
    }

    var release: ReleaseRow?
    var file: String?
    /// The format of the weights: `gguf`, `mlx`, `safetensors`, `onnx` or `coreml`.
    var format: String?
    var name: String?
    var summary: String?
    var license: String?
    var role: String?
    var origin: String?
    var installed: Date?
    var notes: String?
    var minAppVersion: String?
    var memoryBytes: UInt64?
    /// The number of a classifier's classes, the version of their list, and when or on what it was trained.
    var classCount: Int?
    var classListVersion: String?
    var trainedOn: String?
    /// The active release's probation and the releases held back, to display.
    var probation: String?
    var heldBack: [String]?
    /// The kind of artifact in use.
    var prepared: String?
    /// The refused artifact and the reason, to display.
    var refusedArtifact: String?
    var canary: Canary?
    var files: [File]?
    var model: ModelFacts?

    init(file: String, model: ModelFacts) {
        self.file = file
        self.model = model
        format = ModelFormat.gguf.rawValue
    }

    /// An installed release, with facts from its weights if they are readable.
    init(
        _ release: InstalledRelease, _ state: ReleaseState, _ artifact: Artifact?, _ context: CommandContext
    ) async {
        let receipt = release.receipt
        self.release = ReleaseRow(release, state)
        format = receipt.format.rawValue
        if let trial = state.probation, trial.release == release.identity {
            probation = "\(trial.answers) of \(Probation.answersNeeded) answers, \(Int(trial.seconds)) s of use"
        }
        heldBack = state.heldBack.map(\.text)
        self.prepared = artifact.map { "\($0.recipe.summary)  \($0.path)" }
        canary = receipt.canary
        name = receipt.name
        summary = receipt.summary
        license = receipt.license
        minAppVersion = receipt.minimumAppVersion?.description
        memoryBytes = receipt.memoryBytes
        role = receipt.role.rawValue
        origin = receipt.origin?.absoluteString
        installed = receipt.installed
        classCount = receipt.classes?.count
        classListVersion = receipt.classes?.listVersion
        trainedOn = receipt.trainedOn
        files = receipt.files.map {
            File(path: $0.name.string, role: $0.role.rawValue, sizeBytes: $0.size, sha256: $0.digest.description)
        }
        // Weights in other formats have no such header, unless GGUF was made of them; `verify` finds damage.
        if let weights = release.weights {
            model = try? await Show.facts(
                of: receipt.format.isSafetensors ? artifact?.path ?? weights : weights,
                loading: artifact?.path ?? weights, projector: release.projector,
                family: release.identity.family, context)
        }
    }

    /// An offered release.
    init(_ resolved: Offer) {
        let release = resolved.release
        self.release = ReleaseRow(offered: release)
        format = release.format.rawValue
        name = release.name
        summary = release.summary
        license = release.license
        role = release.role.rawValue
        origin = resolved.location?.withoutSecrets?.absoluteString
        notes = release.notes
        minAppVersion = release.minimumAppVersion?.description
        memoryBytes = release.requirements.memoryBytes
        classCount = release.classes?.count
        classListVersion = release.classes?.listVersion
        trainedOn = release.trainedOn
        let packed = release.archive == nil ? [] : release.companions.filter(\.locations.isEmpty)
        let isArchive = release.archive != nil
        files = (release.files + packed).enumerated().map { index, file in
            File(
                path: file.name.string, role: index == 0 && isArchive ? "archive" : file.role.rawValue,
                sizeBytes: file.size.estimate, sha256: file.digest?.description)
        }
    }

    /// The facts as lines of a table.
    var rows: [(String, String)] {
        var rows: [(String, String)] = []
        func add(_ name: String, _ value: String?) { if let value { rows.append((name, value)) } }
        add("file", file)
        add("family", release?.family)
        add("version", release?.version)
        add("variant", release?.variant)
        add("state", release?.stateText)
        if format != ModelFormat.gguf.rawValue { add("format", format) }
        add("size", (release?.sizeBytes ?? model?.sizeBytes).map { ByteCount($0).description })
        add("folder", release?.path)
        add("name", name)
        add("summary", summary)
        add("role", role)
        add("license", license)
        add("origin", origin)
        add("installed", installed.map { $0.formatted(.iso8601) })
        add("notes", notes)
        add("app version", minAppVersion.map { "\($0) or newer" })
        add("memory", memoryBytes.map { "\(ByteCount($0)) or more, as its publisher asks" })
        add("classes", classCount.map { "\($0)" })
        add("class list", classListVersion)
        add("trained on", trainedOn)
        add("probation", probation)
        for text in heldBack ?? [] { add("held back", text) }
        add("prepared", prepared)
        add("prepared", refusedArtifact.map { "not used: \($0)" })
        add("canary", canary.map { "\($0.prompt) \($0.pattern.map { "-> \($0)" } ?? "")" })
        for file in files ?? [] { add(file.role, "\(file.path)  \(file.sha256 ?? "no digest")") }
        return rows + (model?.rows ?? [])
    }
}

extension HeldBack {
    /// The release, with time and reason of holding it back.
    fileprivate var text: String { "\(release) since \(since.formatted(.iso8601)): \(reason)" }
}
