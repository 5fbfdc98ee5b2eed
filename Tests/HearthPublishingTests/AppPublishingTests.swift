import Foundation
import HearthBase
import HearthCatalog
import HearthPublishing
import HearthTestSupport
import Testing

/// What an app writes to publish.
@Suite(.timeLimit(.minutes(5))) struct AppPublishingTests {
    @Test func aBucketWithAKeyOfItsOwn() async throws {
        let bucket = try TestBucket()
        let publisher = Publisher(
            to: try .bucket(
                "bucket", path: "toys", endpoint: try bucket.server.access().endpoint, accessKey: "AKID",
                secretKey: "topsecret"))
        let request = PublishRequest(files: [try bucket.source("m-v1.0.0-q4.gguf").url])
        let report = try await publisher.publish(request)
        #expect(report.items.map(\.identity.description) == ["m@1.0.0:q4"] && report.items.allSatisfy(\.isNew))
        #expect(bucket.server.keys.contains("toys/models.json"))
        #expect(try await !publisher.publish(request).items.contains(where: \.isNew))
    }

    @Test(arguments: [("no bucket", "https://s3.example"), ("bucket", "http://s3.example"), ("bucket", "https://s3/p")])
    func anUnusableBucketIsRefused(_ name: String, _ endpoint: String) throws {
        let endpoint = try required(URL(string: endpoint))
        let error = #expect(throws: PublishingError.self) {
            try PublishDestination.bucket(name, endpoint: endpoint, accessKey: "AKID", secretKey: "topsecret")
        }
        #expect(error?.code == .remoteUnusable)
    }

    @Test func aFolderWithASignedList() async throws {
        let lab = try SignedOriginLab()
        try await lab.begin()
        var files: [URL] = []
        for (role, key) in lab.keys {
            let data = try TrustKeyFile(key, passphrase: "correct horse", cost: .none).data
            files.append(try lab.origin.folder.write("keys/\(role).key", data).url)
        }
        let error = await #expect(throws: TrustError.self) { try await OriginSigner(keys: files, passphrase: "wrong") }
        #expect(error?.code == .passphraseWrong)
        let signer = try await OriginSigner(keys: files, passphrase: "correct horse")
        let publisher = Publisher(to: .folder(lab.origin.path.url), signing: signer)
        _ = try await publisher.publish(PublishRequest(files: [try lab.origin.source("m-v1.0.0-q4.gguf").url]))
        #expect(try await lab.folder.isSigned())
    }
}
