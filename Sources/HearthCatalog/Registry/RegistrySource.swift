import Foundation
import HearthBase
import HearthHTTP

/// Lists the release of a registry's manifest: the one that a tag names now, or that of a digest.
///
/// Each file has the SHA-256 of its layer, and the manifest's own digest is checked. A release has the version of its tag,
/// and a tag that moves gives it other bytes.
package struct RegistrySource: CatalogSource {
    package let reference: RegistryReference
    private let client: RegistryClient

    package var name: String { reference.description }

    /// The time limit of one request.
    private static let timeout = Duration.seconds(10)

    /// The source of a reference.
    package init(_ reference: RegistryReference, client: RegistryClient) {
        self.reference = reference
        self.client = client
    }

    /// Asks the registry; never cached.
    /// - Throws: ``CatalogError`` with `repository-missing`, `unknown-revision`, `no-known-model`,
    ///   `registry-answer-invalid`, `origin-unreachable` or `origin-refused`; `HTTPError`; `CancellationError`.
    package func listing(_ policy: CachePolicy) async throws -> CatalogListing {
        guard let base = reference.base else {
            throw CatalogError.registryAnswerInvalid(reference, "it has no address", expected: "a host")
        }
        let repository = base.below("v2/\(reference.repository)")
        let (data, digest) = try await manifest(below: repository)
        let manifest = try RegistryManifest(data, of: reference)
        let config = try await config(manifest.config, below: repository)
        var release = try RegistryRelease(
            reference: reference, manifest: manifest, digest: digest, config: config, base: base
        ).release()
        if release.format == .safetensors { try await describe(&release) }
        if manifest.release != nil {
            let referrers = RegistryReferrers(reference: reference, repository: repository, client: client)
            let indexes = try await referrers.indexes(of: digest)
            release.index = indexes[release.file.name]
            for file in release.companions { release.companionIndexes[file.name] = indexes[file.name] }
        }
        var catalog = Catalog(releases: [release])
        catalog.isOrdered = false
        return CatalogListing(
            catalog: catalog, source: name, location: repository.below("manifests/\(digest.tagged)"),
            freshness: .fetched)
    }

    /// The bytes of the manifest, and their digest.
    private func manifest(below repository: URL) async throws -> (Data, SHA256Digest) {
        let accepted = RegistryManifest.mediaTypes.joined(separator: ", ")
        let (data, response) = try await get(
            repository.below("manifests/\(reference.manifestName)"), accept: accepted,
            limit: RegistryManifest.maximumSize, what: "manifest")
        let digest = SHA256Digest(hashing: data)
        // A registry may name the digest of another algorithm.
        let told = response.headers["Docker-Content-Digest"].flatMap { SHA256Digest(tagged: $0) }
        for expected in [reference.digest, told].compactMap(\.self) where expected != digest {
            throw CatalogError.registryAnswerInvalid(
                reference, "its manifest has another digest", expected: expected.tagged, found: digest.tagged)
        }
        return (data, digest)
    }

    private func config(_ blob: RegistryManifest.Blob, below repository: URL) async throws -> RegistryConfig {
        guard RegistryConfig.mediaTypes.contains(blob.mediaType), blob.size <= RegistryConfig.maximumSize else {
            return RegistryConfig()
        }
        let url = repository.below("blobs/\(blob.digest.tagged)")
        return RegistryConfig(try await document(url, blob.digest, size: blob.size, what: "configuration"))
    }

    /// Adds what the configuration of a model in `*.safetensors` tells, as ``HubSource`` does.
    private func describe(_ release: inout Release) async throws {
        guard let file = release.companions.first(where: { $0.name.string == "config.json" }), let digest = file.digest,
            let url = file.locations.first, let size = file.size.exact, size <= RegistryConfig.maximumSize
        else { return }
        let facts = try await document(url, digest, size: size, what: "config.json")
        if case .object? = facts["vision_config"] { release.role = .vision }
        if case .object? = facts["quantization"] { release.format = .mlx }
    }

    /// A small blob, whose digest is checked, as JSON.
    private func document(
        _ url: URL, _ digest: SHA256Digest, size: UInt64, what: String
    ) async throws -> JSONValue {
        let (data, _) = try await get(url, accept: "*/*", limit: RegistryConfig.maximumSize, what: what)
        let found = SHA256Digest(hashing: data)
        guard found == digest, UInt64(data.count) == size else {
            throw CatalogError.registryAnswerInvalid(
                reference, "its \(what) has another digest", expected: digest.tagged, found: found.tagged)
        }
        do {
            return try JSONValue(parsing: data)
        } catch {
            throw CatalogError.registryAnswerInvalid(reference, "its \(what) is no JSON: \(error)", expected: "JSON")
        }
    }

    // MARK: - Requests

    private func get(
        _ url: URL, accept: String, limit: Int, what: String
    ) async throws -> (Data, HTTPResponse) {
        do {
            let response = try await client.execute(
                HTTPRequest(
                    url, headers: ["Accept": accept, "Accept-Encoding": "identity"], totalTimeout: Self.timeout,
                    maximumBodySize: UInt64(limit)))
            guard response.status == 200 else { throw await failure(response, what, at: url) }
            return (try await response.body.collect(upTo: limit), response)
        } catch let error as HTTPError {
            if error.code == .tooLarge {
                throw CatalogError.registryAnswerInvalid(
                    reference, "its \(what) is too large", expected: "at most \(limit) bytes")
            }
            throw unreachable(error, url)
        }
    }

    private func unreachable(_ error: HTTPError, _ url: URL) -> any Error {
        guard [.cannotResolve, .cannotConnect, .timedOut, .connectionLost].contains(error.code) else { return error }
        let cure = error.context.field == "proxy" ? error.context.remedy : nil
        return CatalogError(
            .originUnreachable, "the registry \(reference.host) cannot be reached: \(error.message)",
            context: ErrorContext(
                model: reference.description, url: url.shown,
                remedy: "Installed models keep working. " + (cure ?? "Check the network and the name of the registry.")),
            disposition: .tryLater, underlying: error)
    }

    /// The error for an unsuccessful answer. Registries give their reasons as codes in JSON.
    private func failure(_ response: HTTPResponse, _ what: String, at url: URL) async -> CatalogError {
        // An answer that cannot be read gives no reason.
        let body = (try? await response.body.collect(upTo: 64 << 10)) ?? Data()
        let code = (try? JSONValue(parsing: body))?["errors"]?.items?.first?["code"]?.string
        switch (response.status, code) {
        case (404, "NAME_UNKNOWN"?):
            return error(
                .repositoryMissing, "the registry has no repository \(reference.path)", response,
                "Check the name; a private repository needs a log-in.")
        case (404, _):
            return error(
                .revisionMissing, "the registry has no \(what) \(reference)", response, "Check the name and the tag.")
        case (401, _), (403, _):
            let problem = client.problem(of: url).map { " (\($0))" } ?? ""
            return error(
                .repositoryMissing,
                "the registry does not give out \(reference.path) without a log-in, or not to this one\(problem)",
                response, "Check the name, and log in with the program that keeps its log-in for containers.")
        case (408, _), (425, _), (429, _), (500..., _):
            return .busy(response, "the registry", model: reference.description, about: reference.path)
        default:
            return error(
                .originRefused, "the registry refused \(reference) with status \(response.status)", response,
                "Check the name of the registry.")
        }
    }

    private func error(
        _ code: ErrorCode<Release>, _ message: String, _ response: HTTPResponse, _ remedy: String
    ) -> CatalogError {
        CatalogError(
            code, message,
            context: ErrorContext(
                model: reference.description, url: response.url.shown, found: "\(response.status)", remedy: remedy))
    }
}
