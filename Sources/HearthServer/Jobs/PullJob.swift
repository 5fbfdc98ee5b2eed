import Foundation
import Hearth
import HearthBase
import HearthCatalog
import HearthDelivery
import HearthHTTP

/// A pull that another process asks for: `POST /hearth/v1/pull`.
package struct PullJob: Sendable, Hashable, Codable {
    /// The hub and the log-ins of a job of this machine's user, whose process has other variables than the server.
    package struct Hub: Sendable, Hashable, Codable {
        package var endpoint: String?
        package var token: String?
        /// The folder of log-ins for registries.
        package var dockerConfig: String?
    }

    /// The model's reference.
    package var model: String
    package var version: String?
    package var variant: String?
    /// Whether a person named the version; `nil` for what the reference says.
    package var named: Bool?
    package var activate: Bool?
    package var probe: Bool?
    package var allowUnverified: Bool?
    package var allowDowngrade: Bool?
    package var allowStale: Bool?
    package var ignoreMemory: Bool?
    package var retryHeldBack: Bool?
    /// `allow` or `deny`.
    package var metered: String?
    package var bytesPerSecond: UInt64?
    package var hub: Hub?

    /// A model's pull with the default options.
    package init(model: String) { self.model = model }

    /// The pull of an offered release; `nil` for a file, which a path of another process names.
    /// - Parameter environment: variables of the caller; `HF_ENDPOINT` and `HF_TOKEN` of a model of the hub
    ///   are used, and `DOCKER_CONFIG` of one of a registry.
    package init?(_ offer: Offer, _ options: PullOptions, environment: [String: String]) {
        var hub = Hub()
        switch offer.reference {
        case .hub(let reference)?:
            model = reference.description
            (hub.endpoint, hub.token) = (environment["HF_ENDPOINT"], environment["HF_TOKEN"])
        case .registry(let reference)?:
            model = reference.description
            hub.dockerConfig = environment["DOCKER_CONFIG"]
        case .file?: return nil
        case .manifest?, .family?, nil:
            guard let location = offer.location else { return nil }
            model = "\(location.absoluteString)#\(offer.release.identity)"
        }
        named = offer.isNamed
        activate = options.activate
        probe = options.probes
        allowUnverified = options.allowUnverified
        allowDowngrade = options.allowDowngrade
        allowStale = options.allowStale
        ignoreMemory = options.ignoreMemory
        retryHeldBack = offer.retryHeldBack
        metered = options.metered == .allow ? "allow" : "deny"
        bytesPerSecond = options.bytesPerSecond
        if hub != Hub() { self.hub = hub }
    }

    /// The reference, with version and variant.
    /// - Parameter isOwn: whether this machine's user asks: others name models of the origins and the Hub, no addresses.
    /// - Throws: `CatalogError` with `bad-reference`.
    func reference(isOwn: Bool) throws -> ModelReference {
        let text = model + (version.map { "@\($0)" } ?? "") + (variant.map { ":\($0)" } ?? "")
        switch try ModelReference(parsing: text) {
        case .family, .hub: return try ModelReference(parsing: text)
        case .manifest where isOwn, .registry where isOwn: return try ModelReference(parsing: text)
        case .manifest, .registry, .file:
            throw CatalogError(
                .badReference, "\(model.quoted) is no model of the origins or the Hub", disposition: .usage)
        }
    }

    /// The options of the pull.
    var options: PullOptions {
        var options = PullOptions()
        options.activate = activate ?? true
        options.probes = probe ?? true
        options.allowUnverified = allowUnverified ?? false
        options.allowDowngrade = allowDowngrade ?? false
        options.allowStale = allowStale ?? false
        options.ignoreMemory = ignoreMemory ?? false
        options.retryHeldBack = retryHeldBack ?? true
        options.metered = metered == "allow" ? .allow : .deny
        options.bytesPerSecond = bytesPerSecond
        return options
    }

    /// The variables of the job's hub.
    private var variables: [String: String] {
        var variables: [String: String] = [:]
        variables["HF_ENDPOINT"] = hub?.endpoint
        variables["HF_TOKEN"] = hub?.token
        variables["DOCKER_CONFIG"] = hub?.dockerConfig
        return variables
    }

    /// Pulls the model, with the settings of the server and the hub of the job.
    func run(
        _ reference: ModelReference, in hearth: Hearth, report: @escaping @Sendable (PullEvent) -> Void
    ) async throws -> PullOutcome {
        let own = try await blocking {
            try hearth.reopened(hearth.configuration, adding: variables) { report(.note($0)) }
        }
        var offer = try await own.manager.resolve(reference, options: options)
        if let named { offer.isNamed = offer.isNamed && named }
        if let retryHeldBack { offer.retryHeldBack = retryHeldBack }
        return try await own.manager.pull(offer, options: options) { report(.progress($0)) }
    }
}
