import Foundation
import HearthBase
import HearthCatalog
import HearthHTTP
import HearthTestSupport
import Testing

@testable import HearthPublishing

/// Buckets that refuse, lie, forget and fail: a sentence, and the origin as it was.
@Suite(.timeLimit(.minutes(5))) struct BucketFaultTests {
    /// Publishes a second release while the server misbehaves; the first stays as it was.
    private func refusal(
        _ fault: @escaping @Sendable (RecordedRequest, inout BucketServer.State) -> Reply?
    ) async throws -> PublishingError {
        let bucket = try TestBucket()
        try await bucket.publish(bucket.source("m-v1.0.0-q4.gguf"))
        let before = bucket.server.object("models.json")?.data
        let source = try bucket.large("m-v1.1.0-q4.gguf")
        bucket.server.fail(fault)
        let error = try await #require(throws: PublishingError.self) { try await bucket.publish(source) }
        #expect(bucket.server.object("models.json")?.data == before)
        #expect(error.context.remedy != nil)
        #expect(!"\(error) \(error.context)".contains("topsecret"))
        try bucket.expectWhole()
        // Nothing is in the way of the next publication.
        bucket.server.heal()
        try await bucket.publish(source)
        #expect(try bucket.catalog().serial == 2)
        try bucket.expectWhole()
        return error
    }

    @Test(
        arguments: [
            (403, "SignatureDoesNotMatch"), (403, "InvalidAccessKeyId"), (401, "AccessDenied"),
            (403, "RequestTimeTooSkewed"), (404, "NoSuchBucket"), (301, "PermanentRedirect"),
        ].suffix(TestExtent.isFull ? 6 : 2))
    func whatTheServerRefusesIsSaid(_ status: Int, _ code: String) async throws {
        let error = try await refusal { request, _ in
            request.method == "PUT" || request.method == "POST" ? BucketServer.error(status, code) : nil
        }
        #expect(error.code == .bucketRefused)
        #expect(error.disposition == .failed)
    }

    @Test func aServerThatFailsForGoodIsLeft() async throws {
        let error = try await refusal { request, _ in
            request.query("partNumber") == "2" ? BucketServer.error(500, "InternalError") : nil
        }
        #expect(error.code == .bucketFailed)
        #expect(error.disposition == .tryLater)
    }

    @Test func aServerThatFailsOnceIsAskedAgain() async throws {
        let bucket = try TestBucket()
        let failures = Locked<Set<String>>([])
        bucket.server.fail { request, _ in
            let isFirst = failures.withLock { $0.insert("\(request.method) \(request.target)").inserted }
            return isFirst ? BucketServer.error(503, "SlowDown") : nil
        }
        try await bucket.publish(bucket.large())
        try bucket.expectWhole()
    }

    @Test func aFailureAfterTheStatusIsSeen() async throws {
        let error = try await refusal { request, _ in
            guard request.method == "POST", request.query("uploadId") != nil else { return nil }
            return BucketServer.error(200, "InternalError")
        }
        #expect(error.code == .bucketFailed)
    }

    @Test func aServerThatForgetsAPartOnceGetsItAgain() async throws {
        let bucket = try TestBucket()
        let hasForgotten = Locked(false)
        bucket.server.fail { request, state in
            guard request.method == "GET", request.query("uploadId") != nil else { return nil }
            let isFirst = hasForgotten.withLock { hasForgotten in
                defer { hasForgotten = true }
                return !hasForgotten
            }
            if isFirst { for id in state.uploads.keys { state.uploads[id]?.parts[2] = nil } }
            return nil
        }
        try await bucket.publish(bucket.large())
        #expect(bucket.server.requests.filter { $0.query("partNumber") == "2" }.count == 2)
        try bucket.expectWhole()
    }

    @Test func aServerThatForgetsPartsForGoodIsLeft() async throws {
        let error = try await refusal { request, state in
            if request.method == "GET", request.query("uploadId") != nil {
                for id in state.uploads.keys { state.uploads[id]?.parts[2] = nil }
            }
            return nil
        }
        #expect(error.code == .uploadBroken)
    }

    @Test(arguments: ["m-v1.1.0-q4.gguf", "m-v1.1.0-q4.index"])
    func aServerThatLiesAboutLengthsIsNoticed(_ name: String) async throws {
        let error = try await refusal { request, state in
            guard request.method == "HEAD", request.path.hasSuffix(name), state.objects["models/\(name)"] != nil else {
                return nil
            }
            return Reply().framed(.declared(17))
        }
        #expect(error.code == .uploadBroken)
    }

    @Test func aServerThatStoresOtherBytesIsNoticed() async throws {
        // What the catalog's copy is read as is not what was sent.
        let error = try await refusal { request, state in
            if request.method == "HEAD", request.path.contains("/targets/"), let key = BucketServer.key(request) {
                state.objects[key]?.headers["x-amz-meta-sha256"] = String(repeating: "0", count: 64)
            }
            return nil
        }
        #expect(error.code == .uploadBroken)
    }

    /// Another publisher's catalog, put there at the last moment.
    private static let other = Data("{\"schemaVersion\": 1, \"models\": [], \"serial\": 9}".utf8)

    @Test(arguments: [true, false])
    func anotherPublishersCatalogStays(_ obeysConditions: Bool) async throws {
        let bucket = try TestBucket()
        bucket.server.change { $0.obeysConditions = obeysConditions }
        try await bucket.publish(bucket.source("m-v1.0.0-q4.gguf"))
        bucket.server.fail { request, state in
            // Between reading the catalog and writing it.
            if request.method == "PUT", request.path.contains("/targets/") {
                state.objects["models.json"]?.data = Self.other
            }
            return nil
        }
        let error = await #expect(throws: PublishingError.self) {
            try await bucket.publish(bucket.source("m-v1.1.0-q4.gguf", [2]))
        }
        #expect(error?.code == .originChanged)
        #expect(error?.disposition == .tryLater)
        #expect(bucket.server.object("models.json")?.data == Self.other)
    }

    @Test(arguments: [true, false])
    func saysWhetherTwoPublishersAreKeptApart(_ obeysConditions: Bool) async throws {
        let bucket = try TestBucket()
        bucket.server.change { $0.obeysConditions = obeysConditions }
        let target = try bucket.server.target()
        let publisher = Publisher(target: target, time: HurriedClock().time)
        _ = try await publisher.publish(PublishRequest(files: [bucket.source("m-v1.0.0-q4.gguf")]))
        #expect(target.refusesOverwriting == obeysConditions)
    }

    @Test func anAnswerThatWasLostIsNoConflict() async throws {
        let bucket = try TestBucket()
        try await bucket.publish(bucket.source("m-v1.0.0-q4.gguf"))
        let isLost = Locked(false)
        bucket.server.fail { request, state in
            guard request.method == "PUT", request.path.hasSuffix("/models.json"), !request.path.contains("targets")
            else { return nil }
            let isFirst = isLost.withLock { isLost in
                defer { isLost = true }
                return !isLost
            }
            guard isFirst else { return nil }
            state.objects["models.json"] = BucketServer.Object(
                data: request.body, headers: BucketServer.kept(request))
            return .hangUp
        }
        try await bucket.publish(bucket.source("m-v1.1.0-q4.gguf", [2]))
        #expect(try bucket.catalog().serial == 2)
    }

    @Test func aFileThatChangesMeanwhileIsNotPublished() async throws {
        let bucket = try TestBucket()
        let source = try bucket.large()
        bucket.server.fail { request, _ in
            if request.query("partNumber") == "1" {
                // The test fails below if this does.
                try? Data([1]).write(to: source.url)
            }
            return nil
        }
        let error = await #expect(throws: PublishingError.self) { try await bucket.publish(source) }
        #expect(error?.code == .sourceChanged)
        #expect(bucket.server.object("models.json") == nil)
    }
}
