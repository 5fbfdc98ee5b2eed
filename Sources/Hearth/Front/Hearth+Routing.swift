import HearthBase
import HearthCatalog
import HearthHTTP
import HearthInference
import HearthRouting
import HearthStore

extension Hearth {
    /// The one engine for all answers of an app: it chooses between the models of this device and the cloud.
    ///
    /// ```swift
    /// let engine = try await hearth.orchestrator()
    /// let session = LanguageModelSession(model: engine, instructions: "Answer in one sentence.")
    /// ```
    /// Local models are loaded when the cloud does not answer, and leave memory when the cloud has taken over. Nothing is
    /// fetched: a request for a model that is not installed fails with `model-not-loaded`. The last decisions and the state
    /// of the cloud are kept in the home folder.
    /// - Parameters:
    ///   - cloud: the model on a server; `nil` for the one of the settings, if they have one.
    ///   - premium: the user's rights and credits; `nil` for those of the settings.
    ///   - model: the local model of requests that name none; `nil` for the one in use.
    /// - Throws: `LLMError` with `cloud-key-unusable`, `HTTPError` with `unsupported-url` and ``ConfigurationError`` for a
    ///   cloud of the settings that cannot be used.
    public func orchestrator(
        cloud: CloudEngine? = nil, premium: PremiumManager? = nil, default model: String? = nil
    ) async throws -> LLMOrchestrator {
        let cloud = if let cloud { CloudModel(cloud) } else { try await self.cloud(configuration) }
        return await orchestrator(
            configuration, cloud: cloud, premium: premium ?? self.premium(configuration, for: cloud),
            local: localEngines(default: model))
    }

    /// The same under other settings than those that engines are opened with.
    /// - Parameter isKept: whether the decisions are written to the home folder.
    package func orchestrator(
        _ settings: Configuration, cloud: CloudModel?, premium: PremiumManager, local: any LocalEngines,
        isKept: Bool = true
    ) async -> LLMOrchestrator {
        await LLMOrchestrator(
            local: local, cloud: cloud?.engine, premium: premium, forceLocal: settings.forceLocal, network: network,
            named: { [weak self] in await self?.namedEngine($0, settings, local: local) },
            folder: isKept ? routingFolder : nil, time: surroundings.time)
    }

    /// The cloud model of settings; `nil` without one.
    /// - Throws: `LLMError` with `cloud-key-unusable`, `HTTPError` with `unsupported-url`, ``ConfigurationError``.
    package func cloud(_ settings: Configuration) async throws -> CloudModel? {
        try await blocking { [surroundings] in try surroundings.clouds(settings, surroundings.environment) }
    }

    /// The user's rights for a cloud model.
    package func premium(_ settings: Configuration, for cloud: CloudModel?) -> PremiumManager {
        PremiumManager(settings, for: cloud, folder: routingFolder, time: surroundings.time)
    }

    // MARK: Local models

    /// The models of this device as the local engines of an orchestrator.
    /// - Parameters:
    ///   - model: answers requests that name none; `nil` for the model in use.
    ///   - owner: an object that stays as long as the engines are used.
    package func localEngines(
        default model: String? = nil, keeping owner: (any AnyObject & Sendable)? = nil
    ) -> any LocalEngines {
        let installed = localEngines { [self] name in
            defer { withExtendedLifetime(owner) {} }
            var name = name ?? model
            if name == nil { name = await modelInUse }
            guard let name else {
                throw LLMError(
                    .modelNotLoaded, "no local model is chosen",
                    context: ErrorContext(remedy: "Download a model, name one, or set defaultModel."))
            }
            do {
                switch try ModelReference(parsing: name) {
                case .manifest, .hub, .registry:
                    throw StoreError(.notInstalled, "\(name) is not installed", context: ErrorContext(model: name))
                case let reference: return try await find(reference, policy: .localOnly)
                }
            } catch let error as StoreError where error.code == .notInstalled {
                throw LLMError(.modelNotLoaded, error.message, context: error.context, underlying: error)
            }
        }
        let registered = surroundings.engines.models
        guard !registered.isEmpty else { return installed }
        return RegisteredEngines(models: registered, others: installed) { [self] in
            if let model { model } else { await modelInUse }
        }
    }

    /// The local engines of an orchestrator.
    /// - Parameter find: finds a model by its name; throws `LLMError` with `model-not-loaded` if there is none.
    package func localEngines(
        finding find: @escaping @Sendable (_ model: String?) async throws -> LiveModel
    ) -> any LocalEngines {
        PooledEngines(pool: models.pool, find: find)
    }

    /// The reference of the model in use: that of the library, if it is shown, else that of the settings.
    private var modelInUse: String? {
        get async {
            if let library = await shownLibrary { return await library.modelInUse }
            return configuration.defaultModel
        }
    }
}

extension ModelLibrary {
    /// The reference of the model in use: the saved one with its version, or the selected one.
    package var modelInUse: String? {
        guard let selected = selectedModel else { return nil }
        if let saved = defaultModel, saved.prefix(while: { $0 != "@" && $0 != ":" }) == selected.id.name {
            return saved
        }
        return selected.id.name
    }
}
