import Foundation
import HearthBase
import HearthHTTP

/// Asks a hub which commit a revision of a repository is, and which files it has.
///
/// Uses the API of the Hugging Face Hub, which mirrors also offer.
struct HubClient: Sendable {
    /// The time limit of one request.
    package static let timeout = Duration.seconds(10)
    /// The most pages of a tree that are read; the Hub lists a thousand files on each.
    static let maximumPages = 100
    /// The most files of a repository.
    package static let maximumFiles = 20_000

    private let http: any HTTPClient
    private let settings: HubSettings

    /// A client that sends the token only to the endpoint's host.
    init(http: any HTTPClient, settings: HubSettings) {
        self.http = settings.authorized(http)
        self.settings = settings
    }

    /// The repository at the revision that the reference names, else at the default branch.
    /// - Throws: ``CatalogError`` with `repository-missing`, `repository-gated`, `unknown-revision`,
    ///   `hub-answer-invalid`, `origin-unreachable`, `origin-refused`; `HTTPError`; `CancellationError`.
    func repository(_ reference: HubReference) async throws -> HubRepository {
        var names = ["api", "models", reference.organization, reference.repository]
        if let revision = reference.revision { names += ["revision", revision] }
        let (data, _) = try await get(try address(names, of: reference), of: reference)
        return try HubRepository(answer: data, of: reference)
    }

    /// Lists all files of the repository at a commit.
    /// - Throws: as ``repository(_:)``.
    package func files(_ reference: HubReference, at commit: String) async throws -> [HubFile] {
        let names = ["api", "models", reference.organization, reference.repository, "tree", commit]
        var next: URL? = try address(names, query: "recursive=true&expand=false", of: reference)
        var files: [HubFile] = []
        var pages = 0
        while let page = next {
            pages += 1
            guard pages <= Self.maximumPages, files.count <= Self.maximumFiles else {
                throw HubAnswer.invalid(
                    reference, "more files than a model has", expected: "at most \(Self.maximumFiles)")
            }
            let (data, response) = try await get(page, of: reference)
            files += try HubFile.page(data, of: reference)
            next = try nextPage(response, of: reference)
        }
        return files
    }

    /// The first page of the files at the default branch: as many as a repository of quantizations has.
    func firstFiles(_ reference: HubReference) async throws -> [HubFile] {
        let names = ["api", "models", reference.organization, reference.repository, "tree", "main"]
        let page = try address(names, query: "recursive=true&expand=false", of: reference)
        return try HubFile.page(try await get(page, of: reference).0, of: reference)
    }

    /// Searches for repositories with GGUF files, the most downloaded first.
    /// - Throws: ``CatalogError`` with `hub-answer-invalid`, `origin-unreachable`, `origin-refused`; `HTTPError`.
    func search(_ words: String, limit: Int) async throws -> [HubHit] {
        let wanted = ["gguf", "siblings", "tags", "downloads", "likes", "gated", "pipeline_tag"]
        let query =
            "search=\(PercentText.encoded(words))&filter=gguf&sort=downloads&limit=\(limit)&"
            + wanted.map { "expand=\($0)" }.joined(separator: "&")
        let what = "the search"
        guard let url = URL(address: "\(settings.endpoint.absoluteString)/api/models?\(query)") else {
            throw HubHit.invalid("words no address can hold", from: settings.endpoint)
        }
        do {
            let response = try await http.execute(
                HTTPRequest(
                    url, headers: ["Accept": "application/json"], totalTimeout: Self.timeout,
                    maximumBodySize: UInt64(HubAnswer.maximumSize)))
            switch response.status {
            case 200:
                let data = try await response.body.collect(upTo: HubAnswer.maximumSize)
                return try HubHit.list(data, limit: limit, from: settings.endpoint)
            case 408, 425, 429, 500...: throw CatalogError.hubBusy(response, about: what)
            default: throw CatalogError.refusal(status: response.status, of: response.url)
            }
        } catch let error as HTTPError {
            if error.code == .tooLarge { throw HubHit.invalid("too many bytes", from: settings.endpoint) }
            throw translated(error, model: nil)
        }
    }

    /// What the configuration of a model tells: whether it describes a part that sees (`vision_config`), and how MLX
    /// packed the weights (`quantization`).
    /// - Throws: as ``repository(_:)``; a configuration that is refused, missing or no JSON describes nothing.
    func facts(
        _ configuration: RelativePath, _ reference: HubReference, at commit: String
    ) async throws -> (seesImages: Bool, isQuantizedByMLX: Bool) {
        do {
            let (data, _) = try await get(
                try location(of: configuration, reference, at: commit), of: reference,
                limit: Self.maximumConfigurationSize)
            guard case .object(let facts) = try HubAnswer.document(data, of: reference) else { return (false, false) }
            func isObject(_ name: String) -> Bool { if case .object? = facts[name] { true } else { false } }
            return (isObject("vision_config"), isObject("quantization"))
        } catch let error as CatalogError where error.code != .originUnreachable {
            return (false, false)
        }
    }

    /// The most bytes of a model's configuration.
    private static let maximumConfigurationSize = 1 << 20

    /// Checks access to a file without downloading it.
    /// - Throws: as ``repository(_:)``, and `unknown-file`.
    package func check(_ file: RelativePath, _ reference: HubReference, at commit: String) async throws {
        var request = HTTPRequest(
            try location(of: file, reference, at: commit), method: "HEAD", headers: ["Accept-Encoding": "identity"],
            totalTimeout: Self.timeout)
        // A redirect to the bytes' host means access. It is not followed, because that host may not support HEAD.
        request.maximumRedirects = 0
        let response = try await execute(request, of: reference)
        guard response.status < 400 else { throw failure(response, of: reference) }
    }

    /// The address of a file's bytes.
    package func location(of file: RelativePath, _ reference: HubReference, at commit: String) throws(CatalogError)
        -> URL
    {
        let names = [reference.organization, reference.repository, "resolve", commit]
        return try address(names + file.components.map(\.name), of: reference)
    }

    /// The web page of a repository at a commit, for people and for the receipt.
    package func page(_ reference: HubReference, at commit: String) throws(CatalogError) -> URL {
        try address([reference.organization, reference.repository, "tree", commit], of: reference)
    }

    // MARK: - Requests

    private func get(
        _ url: URL, of reference: HubReference, limit: Int = HubAnswer.maximumSize
    ) async throws -> (Data, HTTPResponse) {
        let response = try await execute(
            HTTPRequest(
                url, headers: ["Accept": "application/json"], totalTimeout: Self.timeout,
                maximumBodySize: UInt64(limit)), of: reference)
        guard response.status == 200 else { throw failure(response, of: reference) }
        let data: Data
        do {
            data = try await response.body.collect(upTo: limit)
        } catch let error as HTTPError {
            throw translated(error, of: reference)
        }
        return (data, response)
    }

    private func execute(_ request: HTTPRequest, of reference: HubReference) async throws -> HTTPResponse {
        do {
            return try await http.execute(request)
        } catch let error as HTTPError {
            throw translated(error, of: reference)
        }
    }

    private func failure(_ response: HTTPResponse, of reference: HubReference) -> CatalogError {
        reference.failure(response, hasToken: settings.token != nil)
    }

    private func translated(_ error: HTTPError, of reference: HubReference) -> any Error {
        if error.code == .tooLarge {
            return HubAnswer.invalid(
                reference, "too many bytes", expected: "at most \(HubAnswer.maximumSize >> 20) MiB")
        }
        return translated(error, model: reference.description)
    }

    /// The error of a hub that cannot be reached, with the model that was wanted.
    private func translated(_ error: HTTPError, model: String?) -> any Error {
        guard [.cannotResolve, .cannotConnect, .timedOut, .connectionLost].contains(error.code) else { return error }
        let cure = error.context.field == "proxy" ? error.context.remedy : nil
        return CatalogError(
            .originUnreachable, "the hub cannot be reached: \(error.message)",
            context: ErrorContext(
                model: model, url: settings.endpoint.shown, field: cure == nil ? "endpoint" : "proxy",
                remedy: "Installed models keep working. "
                    + (cure ?? "Check the network and the address of the hub.")),
            disposition: .tryLater, underlying: error)
    }

    // MARK: - Addresses

    /// The address of the next page. It must be on the same host; any other is an error.
    private func nextPage(_ response: HTTPResponse, of reference: HubReference) throws(CatalogError) -> URL? {
        guard let link = response.headers["Link"], let target = LinkHeader.target("next", in: link) else { return nil }
        guard (1...8192).contains(target.utf8.count), let url = URL(address: target, relativeTo: response.url),
            url.scheme == response.url.scheme, url.host == response.url.host, url.port == response.url.port
        else { throw HubAnswer.invalid(reference, "a next page elsewhere", expected: "one on the same host") }
        return url
    }

    private func address(_ names: [String], query: String? = nil, of reference: HubReference) throws(CatalogError)
        -> URL
    {
        let path = names.map { PercentText.encoded($0) }.joined(separator: "/")
        guard let url = URL(address: "\(settings.endpoint.absoluteString)/\(path)\(query.map { "?" + $0 } ?? "")")
        else {
            throw HubAnswer.invalid(reference, "a name no address can hold", expected: "the name of a file")
        }
        return url
    }
}
