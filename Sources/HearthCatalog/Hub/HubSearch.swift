import Foundation
import HearthBase
import HearthHTTP

/// A repository that a search of the Hub found, with the quantizations a device could have.
package struct HubSearchRow: Sendable, Hashable, Codable {
    /// A quantization of the repository.
    package struct Quantization: Sendable, Hashable, Codable {
        package var name: String
        /// The bytes to download, with the projector; `nil` if they are unknown.
        @OrNull package var sizeBytes: UInt64?
        /// Whether the size is an estimate from the number of parameters.
        package var about: Bool
        /// Whether the device's memory has room; `nil` if the size is unknown.
        @OrNull package var fits: Bool?
    }

    /// `organization/name`.
    package var id: String
    /// The downloads of the last 30 days.
    package var downloads: UInt64
    package var likes: UInt64
    @OrNull package var license: String?
    /// Whether the owner must grant access to the files.
    package var gated: Bool
    /// Whether some quantization that a pull would choose has room; `nil` if no size is known.
    @OrNull package var fits: Bool?
    /// The reference to pull.
    package var reference: String
    /// The smallest first.
    package var quantizations: [Quantization]
    /// The quantization that a pull without one takes; `nil` if none has room.
    @OrNull package var chosen: String?
}

/// The result of a search.
package struct HubSearchResult: Sendable {
    package var rows: [HubSearchRow]
    /// Why some sizes are estimates; `nil` if the Hub told all.
    package var problem: (any Error)?
}

/// Searches the Hub for models in GGUF files.
package struct HubSearch: Sendable {
    /// The most repositories of a result.
    package static let maximumRows = 20
    /// The most requests for sizes at the same time.
    static let parallelRequests = 10
    /// The most bytes of the words.
    package static let maximumWords = 200

    private let client: HubClient
    private let rule: QuantizationRule

    /// - Parameter rule: decides which quantizations the device has room for.
    package init(http: any HTTPClient, settings: HubSettings, rule: QuantizationRule) {
        client = HubClient(http: http, settings: settings)
        self.rule = rule
    }

    /// Finds the most downloaded repositories for the words, with the sizes of their quantizations.
    ///
    /// Each repository costs one more request. If the Hub refuses one for now, sizes of the others are estimates.
    /// - Throws: ``CatalogError`` with `bad-reference` for words that no name holds, `origin-unreachable`,
    ///   `origin-refused`, `hub-answer-invalid`; `HTTPError`; `CancellationError`.
    package func rows(_ words: String) async throws -> HubSearchResult {
        let words = words.trimmingCharacters(in: .whitespaces)
        guard !words.isEmpty, words.utf8.count <= Self.maximumWords, words.isPlain() else {
            throw CatalogError(
                .badReference, "no model has such a name",
                context: ErrorContext(
                    expected: "words of at most \(Self.maximumWords) bytes without control characters",
                    found: words.quoted, remedy: "Search for parts of a name, such as qwen3 4b."), disposition: .usage)
        }
        let hits = try await client.search(words, limit: Self.maximumRows)
        let problem = Locked<(any Error)?>(nil)
        let rows = try await withThrowingTaskGroup(of: (Int, HubSearchRow).self) { group in
            var next = 0
            func ask() {
                guard next < hits.count else { return }
                let (index, hit) = (next, hits[next])
                next += 1
                group.addTask { (index, try await row(hit, problem)) }
            }
            for _ in 0..<Self.parallelRequests { ask() }
            var rows: [(Int, HubSearchRow)] = []
            while let row = try await group.next() {
                rows.append(row)
                ask()
            }
            return rows.sorted { $0.0 < $1.0 }.map(\.1)
        }
        return HubSearchResult(rows: rows, problem: problem.withLock { $0 })
    }

    /// The row of a repository, with the sizes of its files if the Hub tells them.
    private func row(_ hit: HubHit, _ problem: Locked<(any Error)?>) async throws -> HubSearchRow {
        guard problem.withLock({ $0 }) == nil else { return estimated(hit) }
        do {
            let files = try await client.firstFiles(hit.reference)
            let facts = HubRepository(path: hit.reference.path, commit: String(repeating: "0", count: 40))
            let releases = try HubSnapshot(reference: hit.reference, repository: facts, files: files).releases()
            return measured(hit, releases)
        } catch is CancellationError {
            throw CancellationError()
        } catch let error as any HearthFailure where error.disposition == .tryLater {
            // The others would be refused as well.
            problem.withLock { $0 = $0 ?? error }
            return estimated(hit)
        } catch {
            Log.write(.info, "catalog", "the files of \(hit.reference.path) cannot be listed: \(error)")
            return estimated(hit)
        }
    }

    private func measured(_ hit: HubHit, _ releases: [Release]) -> HubSearchRow {
        let builds = releases.filter { $0.format == .gguf }.sorted { $0.totalSize < $1.totalSize }
        let candidates = builds.map { release in
            var candidate = QuantizationRule.Candidate(release)
            candidate.parameters = hit.parameters.map(Double.init) ?? candidate.parameters
            return candidate
        }
        let names = builds.map { $0.quantization?.name ?? $0.file.name.string }
        return row(hit, candidates, names: names, isAbout: false)
    }

    /// The row by the names of files: the size of a quantization is that of its parameters.
    private func estimated(_ hit: HubHit) -> HubSearchRow {
        guard let parameters = hit.parameters else {
            return row(
                hit, hit.labels.map { QuantizationRule.Candidate(label: $0, weights: 0) },
                names: hit.labels.map(\.name), isAbout: true, isKnown: false)
        }
        let labels = hit.labels.sorted { ($0.bitsPerWeight, $0.name) < ($1.bitsPerWeight, $1.name) }
        let candidates = labels.map { QuantizationRule.Candidate(label: $0, parameters: parameters) }
        return row(hit, candidates, names: labels.map(\.name), isAbout: true)
    }

    private func row(
        _ hit: HubHit, _ candidates: [QuantizationRule.Candidate], names: [String], isAbout: Bool, isKnown: Bool = true
    ) -> HubSearchRow {
        let chosen = isKnown ? rule.choose(among: candidates)?.index : nil
        var row = HubSearchRow(
            id: hit.reference.path, downloads: hit.downloads, likes: hit.likes, license: hit.license,
            gated: hit.isGated,
            fits: nil, reference: hit.reference.description,
            quantizations: zip(names, candidates).map { name, candidate in
                HubSearchRow.Quantization(
                    name: name, sizeBytes: isKnown ? candidate.total : nil, about: isAbout,
                    fits: isKnown ? rule.hasRoom(candidate) : nil)
            }, chosen: chosen.map { names[$0] })
        if isKnown, !candidates.isEmpty { row.fits = chosen != nil || row.quantizations.contains { $0.fits == true } }
        return row
    }
}

extension QuantizationRule.Candidate {
    /// A build whose size is estimated from the number of parameters.
    package init(label: QuantizationLabel, parameters: UInt64, companions: UInt64 = 0) {
        self.init(
            label: label, weights: UInt64(Double(parameters) * label.bitsPerWeight / 8), companions: companions,
            parameters: Double(parameters))
    }
}
