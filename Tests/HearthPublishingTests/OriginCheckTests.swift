import Foundation
import HearthBase
import HearthCatalog
import HearthHTTP
import HearthTestSupport
import Testing

@testable import HearthPublishing

/// Examinations of a public bucket, whole and damaged.
@Suite(.timeLimit(.minutes(5))) struct OriginCheckTests {
    private func examine(_ bucket: TestBucket, isComplete: Bool = false) async throws -> OriginReport {
        try await OriginCheck(client: CurlHTTPClient(), time: HurriedClock().time, isComplete: isComplete)
            .run(bucket.server.publicURL)
    }

    private func published() async throws -> TestBucket {
        let bucket = try TestBucket()
        try await bucket.publish(bucket.large())
        try await bucket.publish(bucket.source("m-v1.0.0-q4.gguf"))
        return bucket
    }

    @Test func aWholeOriginHasNoFindings() async throws {
        let bucket = try await published()
        let report = try await examine(bucket)
        #expect(report.findings == [])
        #expect(report.releases == 2 && report.files == 2)
        #expect(!report.isSigned)
        #expect(report.comparedBytes > 9 << 20)
        let all = try await examine(bucket, isComplete: true)
        #expect(all.findings == [])
        #expect(all.comparedBytes > 17 << 20)
        try report.requireUsable()
    }

    @Test(
        arguments: [
            ("gone", "models/m-v1.0.0-q4.gguf", "status 404"), ("short", "models/m-v1.0.0-q4.gguf", "bytes"),
            ("other", "models/m-v1.0.0-q4.gguf", "digest"), ("other", "models/big-v1.0.0-q4.gguf", "index says"),
            ("short", "models/big-v1.0.0-q4.gguf", "bytes"), ("gone", "models/big-v1.0.0-q4.index", "status 404"),
            ("other", "models/big-v1.0.0-q4.index", "digest"), ("gone", "models.json", "status 404"),
            ("page", "models.json", "no catalog"),
        ].suffix(TestExtent.isFull ? 9 : 3))
    func damageIsFound(_ damage: String, _ key: String, _ words: String) async throws {
        let bucket = try await published()
        bucket.server.change { state in
            switch damage {
            case "gone": state.objects[key] = nil
            case "short": state.objects[key]?.data.removeLast(3)
            case "page": state.objects[key]?.data = Data("<html>".utf8)
            default: state.objects[key]?.data[5] ^= 1
            }
        }
        let report = try await examine(bucket)
        #expect(
            report.faults.contains { $0.address.hasSuffix(key) && $0.problem.contains(words) }, "\(report.findings)")
        let error = #expect(throws: PublishingError.self) { try report.requireUsable() }
        #expect(error?.code == .originFaulty)
    }

    @Test func headersThatCachesMisunderstandAreSaid() async throws {
        let bucket = try await published()
        bucket.server.change { state in
            for key in state.objects.keys { state.objects[key]?.headers["Cache-Control"] = nil }
        }
        let report = try await examine(bucket)
        #expect(report.faults == [])
        #expect(report.findings.filter { $0.problem.contains("no-cache, no-store") }.count == 1)
        #expect(report.findings.filter { $0.problem.contains("immutable") }.count == 4)
    }

    @Test func aServerWithoutRangesIsAFault() async throws {
        let bucket = try await published()
        bucket.server.fail { request, state in
            guard request.headers["Range"] != nil, let object = BucketServer.key(request).flatMap({ state.objects[$0] })
            else { return nil }
            return Reply(headers: object.headers, body: .data(object.data))
        }
        #expect(try await examine(bucket).faults.contains { $0.problem.contains("range requests") })
    }

    @Test func anOldCatalogAtThePublicAddressIsAFault() async throws {
        let bucket = try await published()
        let report = try await OriginCheck(client: CurlHTTPClient(), time: HurriedClock().time)
            .run(bucket.server.publicURL, expected: SHA256Digest(hashing: Data()), serial: 2)
        #expect(report.faults.contains { $0.problem.contains("not the catalog that was published") })
        // A later one is another publisher's.
        let later = try await OriginCheck(client: CurlHTTPClient(), time: HurriedClock().time)
            .run(bucket.server.publicURL, expected: SHA256Digest(hashing: Data()), serial: 1)
        #expect(later.faults == [])
    }

    @Test func aFolderIsExaminedToo() async throws {
        let origin = try TestOrigin()
        let path = try #require(try await origin.publish(origin.source("m-v1.0.0-q4.gguf")).items.first?.path)
        let check = OriginCheck(client: DefaultHTTPClient(), time: origin.clock.time)
        #expect(try await check.run(origin.manifest.url).findings == [])
        try LocalFileSystem().removeFile(path)
        #expect(try await check.run(origin.manifest.url).faults.count == 1)
    }
}
