import Foundation
import HearthBase
import HearthCatalog
import HearthHTTP

/// Examines a live origin as devices see it: the catalog, every file it names by length and digest, and their headers.
///
/// Of a large file the first chunk, the last one and some between are requested by range and compared with the chunk
/// index, so that an origin of many gigabytes is examined in seconds.
package struct OriginCheck: Sendable {
    let client: any HTTPClient
    let time: TimeSource
    /// Whether every byte is read.
    let isComplete: Bool
    /// The files to examine by digest; `nil` for all.
    var only: Set<SHA256Digest>?

    /// The largest file that is read whole in any case.
    static let smallSize: UInt64 = 1 << 20
    /// The chunks of a file that are read besides the first and the last.
    static let sampleCount = 2

    /// Makes an examination.
    package init(client: any HTTPClient, time: TimeSource, isComplete: Bool = false, only: Set<SHA256Digest>? = nil) {
        self.client = client
        self.time = time
        self.isComplete = isComplete
        self.only = only
    }

    /// Examines the origin whose `models.json` has this address.
    /// - Parameters:
    ///   - expected: the catalog that was published, `nil` for any.
    ///   - serial: its serial number; a later catalog is another publisher's.
    /// - Throws: `CancellationError`. Everything else is a finding.
    package func run(_ url: URL, expected: SHA256Digest? = nil, serial: UInt64 = 0) async throws -> OriginReport {
        var report = OriginReport(manifest: url.withoutQueryText)
        guard let found = try await fetch(url, limit: UInt64(Catalog.maximumManifestSize), &report) else {
            return report
        }
        if !url.isFileURL, !Self.isChanging(found.headers["Cache-Control"]) {
            report.add(
                .advice, url,
                "has no Cache-Control: \(OriginHeaders.changing), so that devices may see updates late")
        }
        let catalog: Catalog
        do {
            catalog = try Catalog(manifest: found.data, url: url, familyHint: Family("model"))
        } catch {
            let reason = (error as? any HearthFailure)?.message ?? "\(error)"
            report.add(.fault, url, "is no catalog that devices read: \(reason)")
            return report
        }
        report.serial = catalog.serial
        if let expected, expected != SHA256Digest(hashing: found.data), catalog.serial ?? 0 <= serial {
            report.add(.fault, url, "is not the catalog that was published; a cache may keep an older one")
        }
        report.releases = catalog.releases.count
        if let expires = catalog.expires, expires < time.now {
            report.add(.fault, url, "expired on \(expires.timestamp), and devices install nothing from it")
        }
        for release in catalog.releases where release.yanked == nil {
            for file in release.files {
                guard only.map({ only in file.digest.map(only.contains) ?? false }) ?? true else { continue }
                try await examine(file, index: release.index(of: file), &report)
            }
        }
        try await examineSignatures(url, found.data, &report)
        return report
    }

    // MARK: - Files

    private func examine(_ file: RemoteFile, index: RemoteFile?, _ report: inout OriginReport) async throws {
        var chunks: ChunkIndex?
        if let index, let url = index.locations.first {
            if let found = try await fetch(url, limit: index.size.limit, &report) {
                if SHA256Digest(hashing: found.data) != index.digest {
                    report.add(.fault, url, "has another digest than the catalog says")
                } else {
                    do {
                        chunks = try ChunkIndex(encoded: found.data, expectedFileSize: file.size.estimate)
                    } catch {
                        report.add(.fault, url, "is no index of the file")
                    }
                }
                adviseOnCaching(url, found.headers, &report)
            }
        }
        for url in file.locations {
            report.files += 1
            guard let digest = file.digest else {
                report.add(.fault, url, "has no SHA-256 in the catalog, and devices refuse it")
                continue
            }
            if isComplete || file.size.estimate <= Self.smallSize {
                try await readWhole(url, file.size, digest, &report)
            } else if let chunks {
                try await readSamples(url, chunks, &report)
            } else {
                try await readLength(url, file.size, &report)
            }
        }
    }

    private func readWhole(
        _ url: URL, _ size: FileSize, _ digest: SHA256Digest, _ report: inout OriginReport
    ) async throws {
        guard let response = try await open(url, nil, &report) else { return }
        guard response.status == 200 else { return report.add(.fault, url, "answers with status \(response.status)") }
        adviseOnCaching(url, response.headers, &report)
        var hasher = SHA256Hasher()
        var count: UInt64 = 0
        do {
            for try await chunk in response.body {
                chunk.withUnsafeBytes { hasher.update($0) }
                count += UInt64(chunk.count)
                guard count <= size.limit else { break }
            }
        } catch let error as HTTPError {
            return report.add(.fault, url, "could not be read: \(error.message)")
        }
        report.comparedBytes += count
        if size.exact.map({ $0 != count }) ?? (count > size.limit) {
            report.add(.fault, url, "has \(count) bytes, and the catalog says \(size.estimate)")
        } else if hasher.finalize() != digest {
            report.add(.fault, url, "has another digest than the catalog says")
        }
    }

    private func readSamples(_ url: URL, _ index: ChunkIndex, _ report: inout OriginReport) async throws {
        var chosen: Set<Int> = [0, index.chunks.count - 1]
        for _ in 0..<Self.sampleCount { chosen.insert(Int.random(in: 0..<index.chunks.count)) }
        for number in chosen.sorted() {
            let chunk = index.chunks[number]
            guard let range = ByteRange(start: chunk.offset, end: chunk.offset + UInt64(chunk.length)),
                let response = try await open(url, range, &report)
            else { return }
            guard response.status == 206, let found = response.headers["Content-Range"].flatMap(ByteRange.response)
            else {
                let problem =
                    response.status == 200
                    ? "does not answer range requests, so that no download can be continued"
                    : "answers a range request with status \(response.status)"
                return report.add(.fault, url, problem)
            }
            guard found.range == range, found.size == nil || found.size == index.fileSize else {
                let size = found.size.map { "\($0)" } ?? "unknown"
                return report.add(.fault, url, "has \(size) bytes, and the catalog says \(index.fileSize)")
            }
            if number == 0 { adviseOnCaching(url, response.headers, &report) }
            do {
                let data = try await response.body.collect(upTo: Int(chunk.length))
                report.comparedBytes += UInt64(data.count)
                guard SHA256Digest(hashing: data) == chunk.digest else {
                    return report.add(.fault, url, "has other bytes than its index says, from byte \(chunk.offset)")
                }
            } catch let error as HTTPError {
                return report.add(.fault, url, "could not be read: \(error.message)")
            }
        }
    }

    /// Compares the length of a large file without an index.
    private func readLength(_ url: URL, _ size: FileSize, _ report: inout OriginReport) async throws {
        guard let response = try await open(url, ByteRange(start: 0, end: 1), &report) else { return }
        adviseOnCaching(url, response.headers, &report)
        let found = response.headers["Content-Range"].flatMap(ByteRange.response)?.size ?? response.contentLength
        guard response.status == 206 || response.status == 200 else {
            return report.add(.fault, url, "answers with status \(response.status)")
        }
        if let exact = size.exact, found != exact {
            report.add(.fault, url, "has \(found.map { "\($0)" } ?? "unknown") bytes, and the catalog says \(exact)")
        }
    }

    // MARK: - Requests

    func fetch(
        _ url: URL, limit: UInt64, _ report: inout OriginReport
    ) async throws -> (data: Data, headers: HTTPHeaders)? {
        guard let response = try await open(url, nil, &report) else { return nil }
        guard response.status == 200 else {
            report.add(.fault, url, "answers with status \(response.status)")
            return nil
        }
        do {
            let data = try await response.body.collect(upTo: Int(clamping: limit))
            report.comparedBytes += UInt64(data.count)
            return (data, response.headers)
        } catch let error as HTTPError {
            report.add(.fault, url, "could not be read: \(error.message)")
            return nil
        }
    }

    func open(
        _ url: URL, _ range: ByteRange?, _ report: inout OriginReport, isOptional: Bool = false
    ) async throws -> HTTPResponse? {
        var request = HTTPRequest(url)
        request.headers["Range"] = range?.requestHeader
        do {
            let response = try await client.execute(request)
            let coding = response.headers["Content-Encoding"]
            if let coding, coding.lowercased() != "identity" {
                report.add(.fault, url, "is sent compressed as \(coding), against the request")
            }
            return response
        } catch let error as any HearthFailure {
            if !isOptional { report.add(.fault, url, "could not be read: \(error.message)") }
            return nil
        }
    }

    static func isChanging(_ header: String?) -> Bool {
        let words = header?.lowercased() ?? ""
        return words.contains("no-store") || words.contains("no-cache") || words.contains("max-age=0")
    }

    private func adviseOnCaching(_ url: URL, _ headers: HTTPHeaders, _ report: inout OriginReport) {
        guard !url.isFileURL else { return }
        let header = headers["Cache-Control"]?.lowercased() ?? ""
        let seconds = header.firstMatch(of: /max-age=([0-9]+)/).flatMap { Int($0.1) } ?? 0
        if header.contains("no-store") || header.contains("no-cache") || seconds < 86400 {
            report.add(.advice, url, "has no Cache-Control: \(OriginHeaders.immutable), so that caches fetch it again")
        }
    }
}
