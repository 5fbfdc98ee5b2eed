import Foundation
import HearthBase
import HearthHTTP

/// How a file is divided into parts. The same file is always divided in the same way, so that an upload can be
/// continued by a later process.
struct PartPlan: Sendable, Hashable {
    /// The smallest part, except the last: 8 MiB. S3 asks for at least 5 MiB.
    static let smallest: UInt64 = 8 << 20
    /// The most parts; S3 allows 10,000.
    static let maximumCount: UInt64 = 9000

    let fileSize: UInt64
    /// The size of every part but the last.
    let partSize: UInt64

    init(fileSize: UInt64) {
        self.fileSize = fileSize
        let least = (fileSize + Self.maximumCount - 1) / Self.maximumCount
        partSize = max(Self.smallest, (least + (1 << 20) - 1) / (1 << 20) * (1 << 20))
    }

    var count: Int { max(1, Int((fileSize + partSize - 1) / partSize)) }

    /// The bytes of a part; numbers begin with 1.
    func range(_ number: Int) -> Range<UInt64> {
        let start = UInt64(number - 1) * partSize
        return start..<min(fileSize, start + partSize)
    }
}

/// The file of an upload, which must not change meanwhile.
struct UploadSource: Sendable {
    let path: Path
    let size: UInt64
    let modified: Date
    let fileSystem: any FileSystem

    /// Reads a range.
    /// - Throws: ``PublishingError`` with `source-changed`; `FileError`.
    func read(_ range: Range<UInt64>) async throws -> Data {
        try await blocking {
            var data = Data(count: Int(range.count))
            let count = try data.withUnsafeMutableBytes {
                try fileSystem.read(fileSystem.open(path, .read), into: $0, at: range.lowerBound)
            }
            guard count == data.count else { throw FileCopier.changed(path) }
            return data
        }
    }

    /// - Throws: ``PublishingError`` with `source-changed` if the file was written since it was hashed.
    func requireUnchanged() async throws {
        try await blocking {
            let status = try fileSystem.status(at: path, followLinks: false)
            guard status?.size == size, status?.modified == modified else { throw FileCopier.changed(path) }
        }
    }
}

/// Sends one file in parts, a few at once, and continues an upload that was begun before.
struct MultipartUpload: Sendable {
    let s3: S3Client
    let key: String
    let headers: HTTPHeaders
    let source: UploadSource
    /// Called with the number of bytes that the server has.
    let progress: @Sendable (UInt64) -> Void

    /// The parts that are sent at once; each is in memory twice while it is sent.
    static let width = 3

    /// A part that the server has.
    struct Part: Sendable, Hashable {
        let size: UInt64
        let tag: String
    }

    private var plan: PartPlan { PartPlan(fileSize: source.size) }

    /// Sends the file.
    /// - Throws: ``PublishingError`` with `upload-broken`, `bucket-refused`, `bucket-failed` or `source-changed`;
    ///   `HTTPError`, `FileError`, `CancellationError`.
    func run() async throws {
        guard let begun = try await s3.unfinishedUploads(prefix: key).filter({ $0.key == key }).last else {
            return try await finish(begin(), having: [:])
        }
        do {
            try await finish(begun.id, having: same(s3.parts(of: begun.id, key: key)))
        } catch let error as PublishingError where error.code == .uploadBroken {
            // It may have ended after it was listed: the server was still joining the parts of a publisher that was killed.
            Log.write(.info, "the upload of \(key) begins anew: \(error)")
            return try await finish(begin(), having: [:])
        }
        // The metadata were given when the upload began, perhaps for other bytes.
        let digest = headers[BucketTarget.digestHeader]
        let reply = try await s3.send(S3Call(method: "HEAD", key: key, accepted: [404]))
        if reply.headers[BucketTarget.digestHeader] != digest { try await finish(begin(), having: [:]) }
    }

    private func begin() async throws -> String {
        let reply = try await s3.send(
            S3Call(method: "POST", key: key, query: [("uploads", "")], headers: headers))
        // Servers give the root of this answer different names.
        guard let id = reply.document?["UploadId"], !id.isEmpty else { throw broken("no upload was begun") }
        return id
    }

    /// The parts of an earlier upload that hold this file's bytes.
    private func same(_ parts: [Int: Part]) async throws -> [Int: Part] {
        var same: [Int: Part] = [:]
        for (number, part) in parts where (1...plan.count).contains(number) {
            let range = plan.range(number)
            guard part.size == UInt64(range.count) else { continue }
            let data = try await source.read(range)
            let digest = await blocking { ForeignDigest.md5.digest(of: data)?.hexadecimal }
            if let digest, part.tag.contains(digest) { same[number] = part }
        }
        return same
    }

    private func finish(_ id: String, having present: [Int: Part]) async throws {
        var tags = try await send(id, having: present)
        // Servers have forgotten parts; what the server lists is what it will join.
        let listed = try await s3.parts(of: id, key: key)
        if !listed.isEmpty || plan.count == 1 {
            let kept = listed.filter { number, part in
                (1...plan.count).contains(number) && part.size == UInt64(plan.range(number).count)
            }
            if kept.count < plan.count {
                tags = try await send(id, having: kept)
                let again = try await s3.parts(of: id, key: key)
                guard (1...plan.count).allSatisfy({ again[$0]?.size == UInt64(plan.range($0).count) }) else {
                    throw broken("\(plan.count - again.count) of \(plan.count) parts are missing")
                }
            }
        }
        try await complete(id, tags)
    }

    /// Sends the missing parts; returns the tags of all.
    private func send(_ id: String, having present: [Int: Part]) async throws -> [Int: String] {
        var tags = present.mapValues(\.tag)
        var done = present.values.map(\.size).saturatedSum
        progress(done)
        var missing = (1...plan.count).filter { present[$0] == nil }[...]
        try await withThrowingTaskGroup(of: (Int, String).self) { group in
            for number in missing.prefix(Self.width) {
                group.addTask { (number, try await sendPart(number, of: id)) }
            }
            missing = missing.dropFirst(Self.width)
            while let (number, tag) = try await group.next() {
                tags[number] = tag
                done += UInt64(plan.range(number).count)
                progress(done)
                if let next = missing.popFirst() {
                    group.addTask { (next, try await sendPart(next, of: id)) }
                }
            }
        }
        return tags
    }

    private func sendPart(_ number: Int, of id: String) async throws -> String {
        let data = try await source.read(plan.range(number))
        let reply = try await s3.send(
            S3Call(method: "PUT", key: key, query: [("partNumber", "\(number)"), ("uploadId", id)], body: data))
        guard let tag = reply.tag else { throw broken("the answer to part \(number) names no entity tag") }
        return tag
    }

    private func complete(_ id: String, _ tags: [Int: String]) async throws {
        let parts = tags.sorted { $0.key < $1.key }.map { number, tag in
            "<Part><PartNumber>\(number)</PartNumber><ETag>\(Self.escaped(tag))</ETag></Part>"
        }
        let body = "<CompleteMultipartUpload>\(parts.joined())</CompleteMultipartUpload>"
        let reply = try await s3.send(
            S3Call(
                method: "POST", key: key, query: [("uploadId", id)], headers: ["Content-Type": "application/xml"],
                body: Data(body.utf8), accepted: [400, 404]))
        // After a lost answer the upload is gone, since it is complete; the caller checks the object.
        guard (200..<300).contains(reply.status) || reply.status == 404 else {
            throw broken(reply.errorCode ?? "status \(reply.status)")
        }
    }

    private static func escaped(_ text: String) -> String {
        text.replacingOccurrences(of: "&", with: "&amp;").replacingOccurrences(of: "<", with: "&lt;")
            .replacingOccurrences(of: "\"", with: "&quot;")
    }

    private func broken(_ found: String) -> PublishingError {
        PublishingError(
            .uploadBroken, "the bucket's server did not take \(key) in parts",
            context: ErrorContext(
                file: key, found: found,
                remedy: "Publish again. If it happens again, the server does not keep the parts that it receives."))
    }
}

extension S3Client {
    /// An upload that was begun and not finished.
    struct UnfinishedUpload: Sendable, Hashable {
        let key: String
        let id: String
        let initiated: Date?
    }

    /// The most pages of a listing.
    private static let maximumPages = 1000

    /// The unfinished uploads whose keys have a prefix; none if the server does not list them.
    func unfinishedUploads(prefix: String) async throws -> [UnfinishedUpload] {
        var uploads: [UnfinishedUpload] = []
        var marker: (key: String, id: String)?
        for _ in 0..<Self.maximumPages {
            var query = [(name: "uploads", value: ""), (name: "prefix", value: prefix)]
            if let marker {
                query += [(name: "key-marker", value: marker.key), (name: "upload-id-marker", value: marker.id)]
            }
            let reply = try await send(S3Call(method: "GET", query: query, accepted: [400, 404, 405, 501]))
            guard let page = reply.document, page.name == "ListMultipartUploadsResult" else { break }
            for upload in page.all("Upload") {
                guard let key = upload["Key"], key.hasPrefix(prefix), let id = upload["UploadId"] else { continue }
                uploads.append(
                    UnfinishedUpload(key: key, id: id, initiated: upload["Initiated"].flatMap(BucketTarget.date)))
            }
            guard page["IsTruncated"] == "true", let key = page["NextKeyMarker"], let id = page["NextUploadIdMarker"]
            else { break }
            marker = (key, id)
        }
        return uploads
    }

    /// The parts of an upload by number; none if the server does not list them.
    func parts(of id: String, key: String) async throws -> [Int: MultipartUpload.Part] {
        var parts: [Int: MultipartUpload.Part] = [:]
        var marker = "0"
        for _ in 0..<Self.maximumPages {
            let query = [(name: "uploadId", value: id), (name: "part-number-marker", value: marker)]
            let reply = try await send(S3Call(method: "GET", key: key, query: query, accepted: [400, 404, 405, 501]))
            guard let page = reply.document, page.name == "ListPartsResult" else { break }
            for part in page.all("Part") {
                guard let number = part["PartNumber"].flatMap({ Int($0) }), let tag = part["ETag"],
                    let size = part["Size"].flatMap({ UInt64($0) })
                else { continue }
                parts[number] = MultipartUpload.Part(size: size, tag: tag)
            }
            guard page["IsTruncated"] == "true", let next = page["NextPartNumberMarker"], next != marker else { break }
            marker = next
        }
        return parts
    }
}
