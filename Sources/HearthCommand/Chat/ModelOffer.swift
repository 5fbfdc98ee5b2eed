import Hearth
import HearthBase
import HearthDelivery
import Observation

/// Offers a person the model that a conversation lacks; a ``ModelDownloadViewModel`` fetches and loads it.
@MainActor struct ModelOffer {
    private let wanted: ModelReference?
    private let seeing: Bool
    private let library: ModelLibrary
    private let loader: ChatLoader
    private let context: CommandContext

    /// An offer of what the origins of `manager` have.
    /// - Parameters:
    ///   - wanted: the model asked for, `nil` where any will do.
    ///   - seeing: whether one that sees is better, where any will do.
    /// - Throws: ``ConfigurationError``, ``FileError``
    init(
        of wanted: ModelReference?, seeing: Bool, manager: ModelManager, loader: ChatLoader, in context: CommandContext
    ) async throws {
        self.wanted = wanted
        self.seeing = seeing
        self.loader = loader
        self.context = context
        library = ModelLibrary(manager: manager, home: try context.home)
        library.metered = try await context.meteredUse(nil)
    }

    /// Asks, and after a yes fetches and loads.
    /// - Returns: `nil` where there is nothing to offer, or after a no.
    /// - Throws: why it cannot run here, did not come, or could not be loaded; `interrupted`, which says what is kept.
    func make() async throws -> OpenedModel? {
        await library.refreshLocal()
        guard canBeOffered else { return nil }
        context.console.showBar("asking the origins")
        await library.refreshOffers()
        context.console.showBar(nil)
        try Task.checkCancellation()
        for notice in library.notices { context.console.say(notice) }
        guard let row else { return nil }
        if let objection = row.offer?.objection { throw objection.failure }
        let model = row.model
        let question = "\(model.displayName) is not on this device. Download \(model.sizeText) now?"
        return try await context.confirms(question) ? try await bring(model) : nil
    }

    /// Whether an origin could have what was asked for: a family of which nothing is here.
    private var canBeOffered: Bool {
        switch wanted {
        case .family(let family, _, _): library.row(of: family)?.local == nil
        case nil: true
        case .file, .manifest, .hub: false
        }
    }

    /// The model asked for, else the recommended one or the one that needs the most memory of those that fit.
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
        case .file, .manifest, .hub: return nil
        }
    }

    // MARK: Bringing it

    private func bring(_ model: ModelInfo) async throws -> OpenedModel {
        let models = ModelDownloadViewModel(library: library, loader: loader, text: model)
        do {
            do {
                try await fetch(model, with: models)
            } catch let failure as DownloadFailure where failure.isMetered && library.metered == .ask {
                let question = MeteredUse.question("\(model.sizeText) of \(model.displayName)")
                guard try await context.confirms(question) else { throw failure }
                library.metered = .allow
                try await fetch(model, with: models)
            }
            return try await loader.opened()
        } catch is CancellationError {
            let kept = library.kept
            // A program that ends while it loads looks as if it had died of the model.
            if models.isModelLoading { models.cancelDownload() }
            await library.close()
            await Task { await follow { !models.isModelLoading } }.value
            throw CommandError.interrupted(kept: kept)
        }
    }

    /// Returns once the model is here and was loaded, or could not be.
    private func fetch(_ model: ModelInfo, with models: ModelDownloadViewModel) async throws {
        let reporter = ProgressReporter(
            console: context.console, label: model.identity.description, format: .text, time: context.time)
        defer { reporter.end() }
        try models.startDownload()
        await follow {
            if let reading = library.row(of: model.id)?.reading { reporter.show(reading) }
            return models.activeDownload == nil && !models.isModelLoading
        }
        try Task.checkCancellation()
        if case .failed(let failure) = models.downloadState { throw failure }
    }

    /// Returns once it is over, which is looked at again whenever something it reads has changed, or the task is cancelled.
    private func follow(until isOver: @escaping @MainActor () -> Bool) async {
        let (changes, source) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        source.yield()
        for await _ in changes where withObservationTracking(isOver, onChange: { source.yield() }) { return }
    }
}
