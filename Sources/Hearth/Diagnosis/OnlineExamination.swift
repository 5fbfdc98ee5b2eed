import Foundation
import HearthBase
import HearthCatalog
import HearthHTTP
import HearthInference
import HearthRouting

/// Asks each address of the configuration once, all at the same time.
package struct OnlineExamination: Sendable {
    private let configuration: Configuration
    private let environment: [String: String]
    private let home: Path?
    private let cloud: (name: String, engine: any RemoteEngine)?
    private let http: any HTTPClient
    private let time: TimeSource

    package init(
        _ configuration: Configuration, environment: [String: String], home: Path?,
        cloud: (name: String, engine: any RemoteEngine)?, http: any HTTPClient, time: TimeSource
    ) {
        (self.configuration, self.environment, self.home) = (configuration, environment, home)
        (self.cloud, self.http, self.time) = (cloud, http, time)
    }

    /// The longest wait for an address.
    package static let limit: Duration = .seconds(5)

    /// The result for an address.
    package struct Answer: Sendable, Encodable {
        package enum Outcome: String, Sendable, Encodable {
            case reachable
            case keyRefused = "key-refused"
            case certificateRefused = "certificate-refused"
            case notFound = "not-found"
            case timedOut = "timed-out"
            case failed
        }

        package let name: String
        package var address: String
        package let outcome: Outcome
        package let milliseconds: Int
        /// Further facts, such as the number of releases.
        package let detail: String?
        /// The code of the failure.
        package let code: String?
    }

    /// An address, and a request that costs nothing.
    private struct Question: Sendable {
        let name: String
        let address: String
        /// - Returns: further facts for people.
        let ask: @Sendable () async throws -> String?
    }

    /// The answers in the order of the settings, with the failures.
    package func answers() async -> [(Answer, (any Error)?)] {
        let questions = await origins + hub + catalog + clouds
        return await withTaskGroup(of: (Int, Answer, (any Error)?).self) { group in
            for (index, question) in questions.enumerated() {
                group.addTask {
                    let (answer, error) = await self.answer(question)
                    return (index, answer, error)
                }
            }
            return await group.reduce(into: []) { $0.append($1) }.sorted { $0.0 < $1.0 }.map { ($0.1, $0.2) }
        }
    }

    private func answer(_ question: Question) async -> (Answer, (any Error)?) {
        let watch = time.stopwatch()
        let late = HTTPError(
            .timedOut, "no answer came within \(Self.limit.components.seconds) s",
            context: ErrorContext(url: question.address), disposition: .tryLater)
        var detail: String?
        var failure: (any Error)?
        do {
            detail = try await within(Self.limit, of: time, orThrow: late, question.ask)
        } catch {
            failure = error
        }
        let answer = Answer(
            name: question.name, address: question.address,
            outcome: failure.map(Answer.Outcome.init) ?? .reachable,
            milliseconds: Int(watch.elapsed.seconds * 1000), detail: detail,
            code: failure.map { ($0 as? any HearthFailure)?.codeText ?? "unknown" })
        return (answer, failure)
    }

    private var origins: [Question] {
        // The examination of the settings reports an unusable origin.
        let origins = (try? configuration.origins(environment: environment)) ?? []
        return origins.map { origin in
            Question(name: origin.name, address: origin.manifestURL.shown) { [http] in try await origin.releases(http) }
        }
    }

    /// The hub, where its models or its settings are used.
    private var hub: [Question] {
        get async {
            let isSet = ["HF_ENDPOINT", "HF_TOKEN"].contains { environment[$0]?.isEmpty == false }
            // The examination of the home reports one that cannot be read.
            let installed = try? await blocking { [home] in
                try home.map { try LocalFileSystem().contents(of: $0.appending("models")) } ?? []
            }
            let isUsed = (installed ?? []).contains { $0.hasPrefix("hf--") }
            // An invalid address of the hub is a note of the same report.
            guard isSet || isUsed || configuration.defaultModel?.hasPrefix("hf") == true,
                let settings = try? HubSettings(environment: environment)
            else { return [] }
            let base = settings.endpoint
            let asked =
                settings.token == nil ? base.below("api/models").asking("limit=1") : base.below("api/whoami-v2")
            return [
                Question(name: "hub", address: settings.endpoint.shown) { [http] in
                    _ = try await CatalogFetcher(http: settings.authorized(http)).ask(asked, validators: nil)
                    return nil
                }
            ]
        }
    }

    /// The repositories of the catalog.
    private var catalog: [Question] {
        // The examination of the settings reports an unusable root or hub.
        guard let shipped = try? configuration.shippedCatalog(),
            let settings = try? HubSettings(environment: environment)
        else { return [] }
        let newer = shipped.origin.map { origin in
            Question(name: "newer catalog", address: origin.manifestURL.shown) { [http] in
                try await origin.releases(http)
            }
        }
        let models = shipped.newest(nil)
        let entries = Question(name: "catalog", address: settings.endpoint.shown) { [http] in
            let missing = try await HubEntryCheck(http: http, settings: settings).missing(models)
            guard let first = missing.first else { return "\(models.count) models resolve" }
            let names = missing.map(\.model.family.name).joined(separator: ", ")
            throw CatalogError(
                first.error.code, "of \(models.count) models \(missing.count) no longer resolve: \(names)",
                context: ErrorContext(
                    url: settings.endpoint.shown, found: first.error.context.found,
                    remedy: "Update the program, or name a newer catalog."))
        }
        return [newer, entries].compactMap(\.self)
    }

    private var clouds: [Question] {
        cloud.map { cloud in
            [
                Question(name: "cloud", address: cloud.engine.address.shown) {
                    try await cloud.engine.checkHealth()
                    return cloud.name
                }
            ]
        } ?? []
    }
}

extension Origin {
    /// Fetches the list of releases, and counts them.
    fileprivate func releases(_ http: any HTTPClient) async throws -> String {
        let fetcher = CatalogFetcher(http: http)
        let (data, url): (Data, URL)
        if manifestURL.isFileURL {
            (data, url) = (try await fetcher.read(manifestURL), manifestURL)
        } else if case .manifest(let body, let location, _) = try await fetcher.ask(manifestURL, validators: nil) {
            (data, url) = (body, location)
        } else {
            return "unchanged"
        }
        let count = try Catalog(manifest: data, url: url, familyHint: Family(name)).releases.count
        return "offers \(count) release\(count == 1 ? "" : "s")"
    }
}

extension OnlineExamination.Answer.Outcome {
    /// The kind of a failure, which may be the cause of another.
    init(_ error: any Error) {
        switch error {
        case let error as HTTPError where error.code == .tlsFailure: self = .certificateRefused
        case let error as HTTPError where error.code == .cannotResolve: self = .notFound
        case let error as HTTPError where error.code == .timedOut: self = .timedOut
        case let error as LLMError where error.code == .unauthorised || error.code == .notEntitled: self = .keyRefused
        case let error as LLMError where error.code == .remoteModelMissing: self = .notFound
        case let error as CatalogError where ["401", "403"].contains(error.context.found): self = .keyRefused
        case let error as CatalogError where ["404", "410"].contains(error.context.found): self = .notFound
        case let error as FileError where error.code == .notFound: self = .notFound
        case let error as any HearthFailure: self = error.underlying.map(Self.init) ?? .failed
        default: self = .failed
        }
    }
}
