import Foundation
import Hearth
import HearthBase
import HearthCatalog
import HearthHTTP
import HearthInference
import HearthRouting

/// Asks each address of the configuration once, all at the same time.
struct OnlineExamination: Sendable {
    let context: CommandContext

    /// The longest wait for an address.
    static let limit: Duration = .seconds(5)

    /// The result for an address.
    struct Answer: Sendable, Encodable {
        enum Outcome: String, Sendable, Encodable {
            case reachable
            case keyRefused = "key-refused"
            case certificateRefused = "certificate-refused"
            case notFound = "not-found"
            case timedOut = "timed-out"
            case failed
        }

        let name: String
        var address: String
        let outcome: Outcome
        let milliseconds: Int
        /// Further facts, such as the number of releases.
        var detail: String?
        /// The code of the failure.
        var code: String?

        /// The outcome for people.
        var text: String {
            let words =
                switch outcome {
                case .reachable: "reachable after \(milliseconds) ms" + (detail.map { ", \($0)" } ?? "")
                case .keyRefused: "key missing or refused after \(milliseconds) ms"
                case .certificateRefused: "certificate refused after \(milliseconds) ms"
                case .notFound: "not found after \(milliseconds) ms"
                case .timedOut: "no answer within \(limit.components.seconds) s"
                case .failed: "failed after \(milliseconds) ms"
                }
            return "\(words): \(address)"
        }
    }

    /// An address, and a request that costs nothing.
    private struct Question: Sendable {
        let name: String
        let address: String
        /// - Returns: further facts for people.
        let ask: @Sendable () async throws -> String?
    }

    /// Adds the answers, and a problem for each failure.
    func add(to report: inout DoctorReport) async {
        let questions = await questions()
        let results = await withTaskGroup(of: (Int, Answer, (any Error)?).self) { group in
            for (index, question) in questions.enumerated() {
                group.addTask {
                    let (answer, error) = await self.answer(question)
                    return (index, answer, error)
                }
            }
            return await group.reduce(into: []) { $0.append($1) }.sorted { $0.0 < $1.0 }
        }
        report.online = results.map(\.1)
        for (_, answer, error) in results {
            guard let error else { continue }
            var finding = DoctorReport.Finding(error)
            finding.message = "\(answer.name): \(finding.message)"
            finding.cure = finding.cure ?? Self.cure(answer.outcome)
            report.findings.append(finding)
        }
    }

    private func answer(_ question: Question) async -> (Answer, (any Error)?) {
        let watch = context.time.stopwatch()
        let late = HTTPError(
            .timedOut, "no answer came within \(Self.limit.components.seconds) s",
            context: ErrorContext(url: question.address), disposition: .tryLater)
        var detail: String?
        var failure: (any Error)?
        do {
            detail = try await within(Self.limit, of: context.time, orThrow: late, question.ask)
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

    private static func cure(_ outcome: Answer.Outcome) -> String {
        switch outcome {
        case .reachable, .failed, .timedOut: "Check the network and the address, and try again later."
        case .keyRefused: "Check the key."
        case .certificateRefused:
            "Check the date of this machine, the address, and whether this network wants a log-in first."
        case .notFound: "Check the address."
        }
    }

    // MARK: Addresses

    /// The offline chapters report invalid settings.
    private func questions() async -> [Question] {
        // What cannot be read asks nothing here: the examination of the home and its settings reports it.
        guard let configuration = try? await context.configuration else { return [] }
        return origins(configuration) + (await hub(configuration)) + (await cloud(configuration))
    }

    private func origins(_ configuration: Configuration) -> [Question] {
        let http = DefaultHTTPClient(version: HearthCommand.version)
        // The examination of the settings reports an unusable origin.
        let origins = (try? configuration.origins(environment: context.environment)) ?? []
        return origins.map { origin in
            Question(name: origin.name, address: origin.manifestURL.shown) {
                try await origin.releases(http)
            }
        }
    }

    /// The hub, where its models or its settings are used.
    private func hub(_ configuration: Configuration) async -> [Question] {
        let environment = context.environment
        let isSet = ["HF_ENDPOINT", "HF_TOKEN"].contains { environment[$0]?.isEmpty == false }
        // The examination of the home reports one that cannot be read.
        let home = try? context.home
        let installed =
            try? await blocking { try home.map { try LocalFileSystem().contents(of: $0.appending("models")) } ?? [] }
        let isUsed = (installed ?? []).contains { $0.hasPrefix("hf--") }
        // An invalid address of the hub is a note of the same report.
        guard isSet || isUsed || configuration.defaultModel?.hasPrefix("hf") == true,
            let settings = try? HubSettings(environment: environment)
        else { return [] }
        let url = settings.endpoint.appending(path: "api/\(settings.token == nil ? "models" : "whoami-v2")")
        let asked = settings.token == nil ? url.appending(queryItems: [URLQueryItem(name: "limit", value: "1")]) : url
        return [
            Question(name: "hub", address: settings.endpoint.shown) {
                let http = settings.authorized(DefaultHTTPClient(version: HearthCommand.version))
                _ = try await CatalogFetcher(http: http).ask(asked, validators: nil)
                return nil
            }
        ]
    }

    private func cloud(_ configuration: Configuration) async -> [Question] {
        // The examination of the settings reports an unusable cloud.
        guard let cloud = try? await context.cloud(configuration) else { return [] }
        return [
            Question(name: "cloud", address: cloud.engine.address.shown) {
                try await cloud.engine.checkHealth()
                return cloud.name
            }
        ]
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
