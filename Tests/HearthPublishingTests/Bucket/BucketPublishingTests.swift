import Foundation
import HearthBase
import HearthCatalog
import HearthHTTP
import HearthTestSupport
import Testing

@testable import HearthPublishing

/// A bucket, and files to publish.
struct TestBucket {
    let folder: TemporaryFolder
    let server: BucketServer

    init() throws {
        folder = try TemporaryFolder()
        server = try BucketServer()
    }

    func source(_ name: String, _ payload: [UInt8] = [1, 2, 3]) throws -> Path {
        try folder.write("sources/" + name, ModelFiles.gguf(payload: payload))
    }

    /// A model of three parts.
    func large(_ name: String = "big-v1.0.0-q4.gguf", _ seed: UInt8 = 1) throws -> Path {
        let payload = [UInt8](Content.pattern(offset: UInt64(seed), count: 17 << 20).bytes)
        return try source(name, payload)
    }

    @discardableResult
    func publish(
        _ files: Path..., to place: String = "r2:bucket", change: (inout PublishRequest) -> Void = { _ in }
    ) async throws -> PublishReport {
        var request = PublishRequest(files: files)
        change(&request)
        return try await Publisher(target: server.target(place), time: HurriedClock().time).publish(request)
    }

    /// The catalog as devices read it.
    func catalog(_ key: String = "models.json") throws -> Catalog {
        try Catalog(manifest: #require(server.object(key)).data, url: server.publicURL)
    }

    /// Every file that the catalog names is in the bucket, with the digest that the catalog says.
    func expectWhole(_ comment: Comment? = nil) throws {
        guard server.object("models.json") != nil else { return }
        for release in try catalog().releases {
            for file in [release.file, release.index].compactMap(\.self) {
                let location = try #require(file.locations.first)
                let key = String(location.path.dropFirst("/bucket/".count))
                #expect(server.object(key).map { SHA256Digest(hashing: $0.data) } == file.digest, comment)
            }
        }
    }
}

@Suite(.timeLimit(.minutes(5))) struct BucketPublishingTests {
    @Test func theCatalogIsTheLastOfAll() async throws {
        let bucket = try TestBucket()
        let report = try await bucket.publish(bucket.source("m-v1.0.0-q4.gguf"))
        #expect(report.items.map(\.outcome) == [.published])
        #expect(report.manifest.string == "r2:bucket/models.json")
        let digest = SHA256Digest(hashing: try #require(bucket.server.object("models.json")).data)
        let copy = "targets/\(digest.hex).models.json"
        #expect(
            bucket.server.keys == ["models.json", "models/m-v1.0.0-q4.gguf", "models/m-v1.0.0-q4.index", copy])
        // The copy is sent twice, to find out whether the server refuses to overwrite.
        #expect(
            bucket.server.stores == [
                "PUT models/m-v1.0.0-q4.gguf", "PUT models/m-v1.0.0-q4.index", "PUT \(copy)", "PUT \(copy)",
                "PUT models.json",
            ])
        let headers = bucket.server.keys.map { bucket.server.object($0)?.headers["Cache-Control"] }
        let keep = "public, max-age=31536000, immutable"
        #expect(headers == ["no-cache, no-store", keep, keep, keep])
        #expect(bucket.server.object("models.json")?.headers["Content-Type"] == "application/json")
        try bucket.expectWhole()
    }

    @Test func aPathInTheBucketIsAnOriginOfItsOwn() async throws {
        let bucket = try TestBucket()
        try await bucket.publish(bucket.source("m-v1.0.0-q4.gguf"), to: "r2:bucket/a/b")
        #expect(bucket.server.keys.allSatisfy { $0.hasPrefix("a/b/") })
        #expect(try bucket.catalog("a/b/models.json").releases.count == 1)
    }

    @Test func theSameBytesAreNotSentAgain() async throws {
        let bucket = try TestBucket()
        let source = try bucket.source("m-v1.0.0-q4.gguf")
        try await bucket.publish(source)
        let before = bucket.server.stores.count
        let report = try await bucket.publish(source)
        #expect(report.items.map(\.outcome) == [.unchanged])
        #expect(bucket.server.stores.count == before)
        try await bucket.publish(bucket.source("m-v1.1.0-q4.gguf", [9]))
        #expect(try bucket.catalog().serial == 2)
        #expect(bucket.server.stores.filter { $0.hasSuffix("m-v1.0.0-q4.gguf") }.count == 1)
    }

    @Test func aDryRunStoresNothingAndPlansTheSame() async throws {
        let bucket = try TestBucket()
        let source = try bucket.source("m-v1.0.0-q4.gguf")
        let planned = try await bucket.publish(source) { $0.isDryRun = true }
        #expect(bucket.server.keys.isEmpty)
        #expect(bucket.server.stores.isEmpty)
        #expect(try await bucket.publish(source) == planned)
        #expect(planned.plan.steps.map(\.kind) == [.file, .index, .copy, .catalog])
    }

    @Test func aBrokenUploadGoesOnWhereItWas() async throws {
        let bucket = try TestBucket()
        let source = try bucket.large()
        // As if the publisher were killed while it sent the third part.
        bucket.server.fail { request, state in
            guard request.method == "POST", request.query("uploadId") != nil else { return nil }
            for id in state.uploads.keys { state.uploads[id]?.parts[3] = nil }
            return BucketServer.error(403, "AccessDenied")
        }
        let error = await #expect(throws: PublishingError.self) { try await bucket.publish(source) }
        #expect(error?.code == .bucketRefused)
        #expect(bucket.server.keys.isEmpty)
        bucket.server.heal()
        try await bucket.publish(source)
        let sent = bucket.server.requests.compactMap { $0.method == "PUT" ? $0.query("partNumber") : nil }
        #expect(sent.filter { $0 == "1" }.count == 1)
        #expect(sent.filter { $0 == "2" }.count == 1)
        #expect(sent.filter { $0 == "3" }.count == 2)
        try bucket.expectWhole()
    }

    @Test func anUploadThatHasEndedBeginsAnew() async throws {
        let bucket = try TestBucket()
        let source = try bucket.large()
        bucket.server.fail { request, _ in
            request.method == "POST" && request.query("uploadId") != nil ? BucketServer.error(403, "AccessDenied") : nil
        }
        await #expect(throws: PublishingError.self) { try await bucket.publish(source) }
        // It is still listed, and takes no part any more.
        bucket.server.fail { request, state in
            guard request.query("uploadId") == "up1" else { return nil }
            return BucketServer.error(404, "NoSuchUpload")
        }
        try await bucket.publish(source)
        #expect(bucket.server.requests.contains { $0.query("uploadId") == "up2" })
        try bucket.expectWhole()
    }

    @Test func anUploadOfOtherBytesIsNotContinued() async throws {
        let bucket = try TestBucket()
        bucket.server.fail { request, _ in
            request.method == "POST" && request.query("uploadId") != nil ? BucketServer.error(403, "AccessDenied") : nil
        }
        await #expect(throws: PublishingError.self) { try await bucket.publish(bucket.large("big-v1.0.0-q4.gguf", 1)) }
        bucket.server.heal()
        let report = try await bucket.publish(bucket.large("big-v1.0.0-q4.gguf", 2))
        let object = try #require(bucket.server.object("models/big-v1.0.0-q4.gguf"))
        #expect(SHA256Digest(hashing: object.data) == report.items.first?.digest)
        #expect(object.headers["x-amz-meta-sha256"] == report.items.first?.digest.hex)
        try bucket.expectWhole()
    }

    @Test func cancellingLeavesTheCatalogAlone() async throws {
        let bucket = try TestBucket()
        let source = try bucket.large()
        let gate = Gate()
        bucket.server.fail { request, _ in
            request.method == "PUT" ? Reply().stalledBeforeHead(at: gate) : nil
        }
        let running = Task { try await bucket.publish(source) }
        await Self.wait(until: { bucket.server.requests.contains { $0.method == "PUT" } })
        running.cancel()
        await #expect(throws: CancellationError.self) { try await running.value }
        gate.open()
        #expect(bucket.server.keys.isEmpty)
    }

    private static func wait(until condition: @Sendable () -> Bool) async {
        while !condition() { await Task.yield() }
    }
}
