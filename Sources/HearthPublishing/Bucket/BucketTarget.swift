import Foundation
import HearthBase
import HearthHTTP

/// An origin in an S3-compatible bucket.
///
/// Each object carries its SHA-256 as `x-amz-meta-sha256`, so that a later publication knows without reading it what the bucket
/// holds. Large files are sent in parts; an upload that a kill cut short is continued.
package struct BucketTarget: PublishTarget {
    let location: BucketLocation
    let s3: S3Client
    let fileSystem: any FileSystem
    /// The address at which devices read `models.json`, if the publisher gave it.
    private let publicURL: URL?
    /// Whether the server refuses to overwrite, as found out during this publication.
    private let isRefusing = Locked<Bool?>(nil)

    /// The name of the object's digest in its metadata.
    static let digestHeader = "x-amz-meta-sha256"

    /// A target below a location.
    package init(
        _ location: BucketLocation, access: BucketAccess, publicURL: URL?, client: any HTTPClient,
        fileSystem: any FileSystem = LocalFileSystem(), time: TimeSource
    ) {
        self.location = location
        self.publicURL = publicURL
        self.fileSystem = fileSystem
        s3 = S3Client(access: access, bucket: location.bucket, client: client, time: time)
    }

    package var name: String { location.description }

    package var manifestURL: URL {
        // The bucket's own address has the same relative addresses; only this target reads it.
        publicURL ?? s3.access.endpoint.below("\(location.bucket)/\(key("models.json"))")
    }

    package func shown(_ place: RelativePath) -> String { "\(location)/\(place)" }

    private func key(_ place: String) -> String { (location.prefix.map { "\($0)/" } ?? "") + place }
    private func key(_ place: RelativePath) -> String { key(place.string) }

    package func begin() async throws -> any Sendable { 0 }

    package func contents(of place: RelativePath, limit: Int) async throws -> StoredBytes? {
        let reply = try await s3.send(S3Call(method: "GET", key: key(place), accepted: [404], limit: limit))
        guard reply.status != 404 else {
            if reply.errorCode == "NoSuchBucket" { try await requireBucket() }
            return nil
        }
        return StoredBytes(data: reply.body, tag: reply.tag)
    }

    /// - Throws: ``PublishingError`` with `bucket-refused` if the bucket does not exist.
    private func requireBucket() async throws {
        _ = try await s3.send(
            S3Call(method: "GET", key: nil, query: [("list-type", "2"), ("max-keys", "1")]))
    }

    package func holds(_ place: RelativePath, size: UInt64, digest: SHA256Digest?) async throws -> Bool {
        let reply = try await s3.send(S3Call(method: "HEAD", key: key(place), accepted: [404]))
        guard reply.status != 404, reply.headers["Content-Length"].flatMap({ UInt64($0) }) == size else { return false }
        return digest == nil || reply.headers[Self.digestHeader] == digest?.hex
    }

    package func perform(_ step: PublishStep, progress: @escaping @Sendable (UInt64) -> Void) async throws {
        switch step.content {
        case .data(let data):
            try await put(step, data)
            progress(step.size)
        case .file(let path, let modified):
            let source = UploadSource(path: path, size: step.size, modified: modified, fileSystem: fileSystem)
            if step.size <= PartPlan.smallest {
                try await put(step, try await source.read(0..<step.size))
                progress(step.size)
            } else {
                let upload = MultipartUpload(
                    s3: s3, key: key(step.place), headers: headers(of: step), source: source, progress: progress)
                try await upload.run()
            }
            try await source.requireUnchanged()
        }
        // A catalog was read back whole.
        guard step.condition == .none else { return }
        guard try await holds(step.place, size: step.size, digest: step.digest) else {
            throw PublishingError(
                .uploadBroken, "\(shown(step.place)) is not in the bucket as it was sent",
                context: ErrorContext(
                    file: step.place.string, expected: "\(step.size) bytes, SHA-256 \(step.digest.short)…",
                    remedy: "Publish again. If it happens again, the bucket's server does not keep what it receives."))
        }
    }

    private func headers(of step: PublishStep) -> HTTPHeaders {
        [
            "Content-Type": step.contentType, "Cache-Control": step.cacheControl, Self.digestHeader: step.digest.hex,
        ]
    }

    // MARK: - Single objects, with conditions

    private func put(_ step: PublishStep, _ data: Data) async throws {
        var call = S3Call(method: "PUT", key: key(step.place), headers: headers(of: step), body: data)
        call.accepted = [409, 412, 501]
        switch step.condition {
        case .none: break
        case .absent: call.headers["If-None-Match"] = "*"
        case .unchanged(let tag): call.headers["If-Match"] = tag
        }
        if step.condition != .none, isRefusing.withLock({ $0 }) == false { try await requireUnchanged(step) }
        let reply = try await s3.send(call)
        switch reply.status {
        case 501 where step.condition != .none:
            // The server knows no conditions.
            isRefusing.withLock { $0 = false }
            try await requireUnchanged(step)
            call.headers["If-None-Match"] = nil
            call.headers["If-Match"] = nil
            call.accepted = []
            _ = try await s3.send(call)
        case 501:
            call.accepted = []
            _ = try await s3.send(call)
        case 409, 412:
            // The answer to an attempt that succeeded may have been lost.
            guard try await contents(of: step.place, limit: 4 << 20)?.data == data else { throw changed(step) }
        default: break
        }
        if step.kind == .copy { try await findOutWhetherRefusing(call) }
        if step.condition != .none { try await requireOwn(step, data) }
    }

    /// Sends the same bytes once more, with a condition that does not hold.
    private func findOutWhetherRefusing(_ call: S3Call) async throws {
        guard isRefusing.withLock({ $0 }) == nil else { return }
        var call = call
        call.headers["If-None-Match"] = "*"
        let status = try await s3.send(call).status
        isRefusing.withLock { $0 = status == 409 || status == 412 }
    }

    /// Compares the entity tag just before an upload, where the server does not.
    private func requireUnchanged(_ step: PublishStep) async throws {
        let there = try await s3.send(S3Call(method: "HEAD", key: key(step.place), accepted: [404]))
        switch step.condition {
        case .none: break
        case .absent where there.status == 404: break
        case .unchanged(let tag) where there.status != 404 && there.tag == tag: break
        case .absent, .unchanged: throw changed(step)
        }
    }

    /// Reads a catalog back, since another publisher may have written over it at the same moment.
    private func requireOwn(_ step: PublishStep, _ data: Data) async throws {
        let found = try await contents(of: step.place, limit: max(data.count, 4 << 20))
        guard found?.data == data else { throw changed(step) }
    }

    private func changed(_ step: PublishStep) -> PublishingError {
        PublishingError(
            .originChanged, "another publisher changed \(shown(step.place)) meanwhile",
            context: ErrorContext(file: step.place.string, remedy: "Publish again: what was sent is not sent again."),
            disposition: .tryLater)
    }

    package var refusesOverwriting: Bool? { isRefusing.withLock { $0 } }

    // MARK: - Listing and removing

    /// Keeps the files of replaced entries: devices may be reading them, and pruning removes them later.
    package func withdraw(_ places: Set<RelativePath>, sparing: Set<FileIdentity>) async {}

    package func list() async throws -> [StoredFile] {
        let prefix = key("")
        var files: [StoredFile] = []
        var token: String?
        repeat {
            var query = [(name: "list-type", value: "2"), (name: "prefix", value: prefix)]
            if let token { query.append((name: "continuation-token", value: token)) }
            let page = try await document(S3Call(method: "GET", query: query), named: "ListBucketResult")
            for object in page.all("Contents") {
                guard let name = object["Key"], name.hasPrefix(prefix),
                    let size = object["Size"].flatMap({ UInt64($0) }),
                    let place = RelativePath(name.dropFirst(prefix.count))
                else { continue }
                // A file without a usable date counts as new, and stays.
                let modified = object["LastModified"].flatMap(Self.date) ?? .distantFuture
                files.append(StoredFile(place: place, size: size, modified: modified))
            }
            let next = page["IsTruncated"] == "true" ? page["NextContinuationToken"] : nil
            // A server that repeats itself must not keep this loop running.
            guard next == nil || next != token else { throw notS3() }
            token = next
        } while token != nil
        return files
    }

    package func remove(_ place: RelativePath) async throws {
        _ = try await s3.send(S3Call(method: "DELETE", key: key(place), accepted: [404]))
    }

    package func abandonUploads(before date: Date) async throws -> Int {
        var count = 0
        for upload in try await s3.unfinishedUploads(prefix: key("")) where upload.initiated.map({ $0 < date }) == true
        {
            _ = try await s3.send(
                S3Call(
                    method: "DELETE", key: upload.key, query: [("uploadId", upload.id)], accepted: [404]))
            count += 1
        }
        return count
    }

    private func document(_ call: S3Call, named name: String) async throws -> S3Document {
        guard let document = try await s3.send(call).document, document.name == name else { throw notS3() }
        return document
    }

    private func notS3() -> PublishingError {
        PublishingError(
            .bucketFailed, "\(s3.access.endpoint.host() ?? "the server") does not answer like an S3 server",
            context: ErrorContext(
                url: s3.access.endpoint.absoluteString, remedy: "Check the endpoint of the remote."))
    }

    /// Reads `2026-11-25T12:00:00.123Z`, with any number of decimals or none.
    static func date(_ text: String) -> Date? {
        // A listing without a usable date is handled where it is read.
        try? Date(text.replacing(/\.[0-9]+/, with: ""), strategy: .iso8601)
    }
}
