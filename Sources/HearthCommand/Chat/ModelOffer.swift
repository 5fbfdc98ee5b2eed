import Hearth
import HearthBase
import HearthCatalog
import HearthDelivery
import HearthHTTP
import HearthTransfer
import Observation

/// Offers the user a model missing for a conversation, and downloads it.
@MainActor struct ModelOffer {
    private let wanted: ModelReference?
    private let seeing: Bool
    private let library: ModelLibrary
    private let manager: ModelManager
    private let context: CommandContext

    /// An offer from the origins, the catalog or the Hub.
    /// - Parameters:
    ///   - wanted: the requested model, `nil` for any.
    ///   - seeing: whether to prefer a model that sees, if any model is accepted.
    /// - Throws: `ConfigurationError`, `FileError`
    init(of wanted: ModelReference?, seeing: Bool, in hearth: Hearth, _ context: CommandContext) async throws {
        self.wanted = wanted
        self.seeing = seeing
        self.context = context
        manager = hearth.manager
        library = hearth.library
        library.metered = try await context.meteredUse(nil)
    }

    /// Asks the user; after a yes, downloads the model.
    /// - Returns: the installed model; `nil` after a no, or if there is no model to offer.
    /// - Throws: why the model cannot run or be downloaded; `interrupted`, which says what is kept.
    func make() async throws -> InstalledRelease? {
        if RepositoryReference(wanted) != nil, let wanted { return try await bring(wanted) }
        await library.refreshLocal()
        guard canBeOffered else { return nil }
        context.console.showBar("asking the origins")
        await library.refreshOffers()
        context.console.showBar(nil)
        try Task.checkCancellation()
        for notice in library.notices { context.console.say(notice) }
        guard let row else { return try await catalogModel() }
        if let objection = row.offer?.objection { throw objection.failure }
        let model = row.model
        let question = "\(model.displayName) is not on this device. Download \(model.sizeText) now?"
        guard try await context.confirms(question) else { return nil }
        try await bring(model)
        return try await manager.installed(model.id)
    }

    /// A model of the catalog: the requested one, or the recommended one where the origins list none.
    private func catalogModel() async throws -> InstalledRelease? {
        switch wanted {
        case .family(let family, _, _):
            guard try await manager.suggestions().models.contains(where: { $0.model.family == family }), let wanted
            else {
                return nil
            }
            return try await bring(wanted)
        case nil:
            guard library.rows.isEmpty, SuggestedModel.recommended(in: try await manager.suggestions().models) != nil
            else { return nil }
            return try await bring(try await manager.recommended(seeing: seeing), isRecommended: true)
        case .file, .manifest, .hub, .registry: return nil
        }
    }

    /// Asks, and pulls a model of the Hub or a registry.
    private func bring(_ reference: ModelReference, isRecommended: Bool = false) async throws -> InstalledRelease? {
        var options = PullOptions()
        (options.metered, options.retryHeldBack) = (library.metered, true)
        guard
            let offer = try await context.confirmed(
                reference, isRecommended: isRecommended, from: manager, options)
        else { return nil }
        if let choice = offer.reason.sentence(offer.release.identity) { context.console.say(choice) }
        return try await context.pull(offer, with: manager, options: options, format: .text).release
    }

    /// Whether an origin may offer the requested model: none of its family is on this device.
    private var canBeOffered: Bool {
        switch wanted {
        case .family(let family, _, _): library.row(of: family)?.local == nil
        case nil: true
        case .file, .manifest, .hub, .registry: false
        }
    }

    /// The requested model, else the recommended one or the largest one that fits.
    private var row: LibraryRow? {
        switch wanted {
        case .family(let family, let version, let variant):
            guard let row = library.row(of: family), row.local == nil else { return nil }
            let identity = row.model.identity
            let isMeant =
                (version ?? identity.version) == identity.version && (variant ?? identity.variant) == identity.variant
            return isMeant ? row : nil
        case nil:
            let rows = library.rows.filter { $0.state == .notDownloaded }
            let sighted = seeing ? rows.filter(\.model.seesImages) : []
            let choices = sighted.isEmpty ? rows.filter { $0.model.role == .text } : sighted
            return choices.first(where: \.isRecommended)
                ?? choices.max { $0.model.requiredMemory < $1.model.requiredMemory }
        case .file, .manifest, .hub, .registry: return nil
        }
    }

    // MARK: Download

    private func bring(_ model: ModelInfo) async throws {
        do {
            do {
                try await fetch(model)
            } catch let failure as FailureBody where failure.isMetered && library.metered == .ask {
                let question = MeteredUse.question("\(model.sizeText) of \(model.displayName)")
                guard try await context.confirms(question) else { throw failure }
                library.metered = .allow
                try await fetch(model)
            }
        } catch is CancellationError {
            let kept = library.kept
            await library.close()
            throw CommandError.interrupted(kept: kept)
        }
    }

    /// Returns after the model was downloaded, or failed to.
    private func fetch(_ model: ModelInfo) async throws {
        let reporter = ProgressDisplay(
            console: context.console, label: model.identity.description, format: .text, time: context.time)
        defer { reporter.end() }
        try library.download(model)
        let (changes, source) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        source.yield()
        for await _ in changes {
            let isOver = withObservationTracking {
                if let reading = library.row(of: model.id)?.reading { reporter.show(reading) }
                return !library.downloadState(of: model.id).isActive
            } onChange: {
                source.yield()
            }
            if isOver { break }
        }
        try Task.checkCancellation()
        if case .failed(let failure) = library.downloadState(of: model.id) { throw failure }
    }
}
