import Foundation
import HearthBase
import HearthHTTP
import HearthTestSupport

@testable import HearthPublishing

/// An S3 server in memory, which checks digests of bodies and can be made to fail.
final class BucketServer: Sendable {
    struct Object: Sendable {
        var data: Data
        var headers: HTTPHeaders
        var modified = Date(timeIntervalSince1970: 1_800_000_000)
    }

    struct Upload: Sendable {
        let key: String
        let headers: HTTPHeaders
        var parts: [Int: Data] = [:]
    }

    struct State: Sendable {
        var objects: [String: Object] = [:]
        var uploads: [String: Upload] = [:]
        var lastID = 0
        /// Whether conditions are obeyed.
        var obeysConditions = true
        /// The reply in place of the right one.
        var fault: @Sendable (RecordedRequest, inout State) -> Reply? = { _, _ in nil }
    }

    private let state: Locked<State>
    private let server: FaultServer

    init() throws {
        let state = Locked(State())
        self.state = state
        server = try FaultServer { request in
            state.withLock { state in
                let fault = state.fault
                return fault(request, &state) ?? Self.answer(request, &state)
            }
        }
    }

    var requests: [RecordedRequest] { server.requests }
    var keys: [String] { state.withLock { $0.objects.keys.sorted() } }
    func object(_ key: String) -> Object? { state.withLock { $0.objects[key] } }
    func change(_ body: @Sendable (inout State) -> Void) { state.withLock { body(&$0) } }
    func fail(_ fault: @escaping @Sendable (RecordedRequest, inout State) -> Reply?) {
        state.withLock { $0.fault = fault }
    }
    func heal() { fail { _, _ in nil } }

    /// The requests that stored something, as `PUT models/a.gguf`.
    var stores: [String] {
        requests.filter { $0.method == "PUT" || $0.method == "POST" }.map { "\($0.method) \(Self.key($0) ?? "")" }
    }

    func access(_ secret: String = "topsecret") throws -> BucketAccess {
        guard let key = Secret(secret) else { throw CocoaError(.coderInvalidValue) }
        return BucketAccess(endpoint: try server.url(""), region: "auto", accessKey: "AKID", secretKey: key)
    }

    func target(_ path: String = "r2:bucket", time: TimeSource = HurriedClock().time) throws -> BucketTarget {
        guard let location = try BucketLocation(path) else { throw CocoaError(.coderInvalidValue) }
        return BucketTarget(
            location, access: try access(), publicURL: nil, client: CurlHTTPClient(), time: time)
    }

    var publicURL: URL { get throws { try server.url("/bucket/models.json") } }

    // MARK: - Answers

    static func key(_ request: RecordedRequest) -> String? {
        let path = String(decoding: PercentText.decoded(request.path), as: UTF8.self)
        guard path.hasPrefix("/bucket/") else { return nil }
        return String(path.dropFirst(8))
    }

    static func error(_ status: Int, _ code: String) -> Reply {
        Reply(
            status, headers: ["Content-Type": "application/xml"],
            body: .data(Data("<?xml version=\"1.0\"?><Error><Code>\(code)</Code></Error>".utf8)))
    }

    private static func xml(_ text: String) -> Reply {
        Reply(headers: ["Content-Type": "application/xml"], body: .data(Data(text.utf8)))
    }

    private static func answer(_ request: RecordedRequest, _ state: inout State) -> Reply {
        if request.method != "GET" || request.headers["Authorization"] != nil {
            guard request.headers["Authorization"]?.hasPrefix("AWS4-HMAC-SHA256 Credential=AKID/") == true else {
                return error(403, "AccessDenied")
            }
            guard request.headers["x-amz-content-sha256"] == SHA256Digest(hashing: request.body).hex else {
                return error(400, "XAmzContentSHA256Mismatch")
            }
        }
        guard request.path.hasPrefix("/bucket") else { return error(404, "NoSuchBucket") }
        guard let key = key(request), !key.isEmpty else { return list(request, state) }
        switch request.method {
        case "GET" where request.query("uploadId") != nil: return parts(request, state)
        case "GET", "HEAD": return read(request, key, state)
        case "PUT" where request.query("uploadId") != nil: return storePart(request, &state)
        case "PUT": return store(request, key, &state)
        case "POST" where request.query("uploads") != nil: return begin(request, key, &state)
        case "POST": return complete(request, key, &state)
        case "DELETE":
            if let id = request.query("uploadId") { state.uploads[id] = nil } else { state.objects[key] = nil }
            return Reply(204)
        default: return error(405, "MethodNotAllowed")
        }
    }

    private static func tag(_ data: Data) -> String { "\"\(ForeignDigest.md5.digest(of: data)?.hexadecimal ?? "")\"" }

    private static func read(_ request: RecordedRequest, _ key: String, _ state: State) -> Reply {
        guard let object = state.objects[key] else { return error(404, "NoSuchKey") }
        var reply = FaultServer.answer(request, with: .data(object.data), etag: tag(object.data))
        for field in object.headers.fields { reply.headers[field.name] = field.value }
        return reply
    }

    static func kept(_ request: RecordedRequest) -> HTTPHeaders {
        var headers = HTTPHeaders()
        for name in ["Content-Type", "Cache-Control", "x-amz-meta-sha256"] { headers[name] = request.headers[name] }
        return headers
    }

    private static func store(_ request: RecordedRequest, _ key: String, _ state: inout State) -> Reply {
        let there = state.objects[key].map { tag($0.data) }
        if state.obeysConditions {
            if request.headers["If-None-Match"] == "*", there != nil { return error(412, "PreconditionFailed") }
            if let wanted = request.headers["If-Match"], wanted != there { return error(412, "PreconditionFailed") }
        }
        state.objects[key] = Object(data: request.body, headers: kept(request))
        return Reply(200, headers: ["ETag": tag(request.body)])
    }

    private static func begin(_ request: RecordedRequest, _ key: String, _ state: inout State) -> Reply {
        state.lastID += 1
        state.uploads["up\(state.lastID)"] = Upload(key: key, headers: kept(request))
        return xml(
            "<InitiateMultipartUploadResult><UploadId>up\(state.lastID)</UploadId></InitiateMultipartUploadResult>")
    }

    private static func storePart(_ request: RecordedRequest, _ state: inout State) -> Reply {
        guard let id = request.query("uploadId"), let number = request.query("partNumber").flatMap({ Int($0) }),
            state.uploads[id] != nil
        else { return error(404, "NoSuchUpload") }
        state.uploads[id]?.parts[number] = request.body
        return Reply(200, headers: ["ETag": tag(request.body)])
    }

    private static func parts(_ request: RecordedRequest, _ state: State) -> Reply {
        guard let upload = request.query("uploadId").flatMap({ state.uploads[$0] }) else {
            return error(404, "NoSuchUpload")
        }
        let parts = upload.parts.sorted { $0.key < $1.key }.map { number, data in
            "<Part><PartNumber>\(number)</PartNumber><ETag>\(tag(data).replacingOccurrences(of: "\"", with: "&quot;"))"
                + "</ETag><Size>\(data.count)</Size></Part>"
        }
        return xml("<ListPartsResult><IsTruncated>false</IsTruncated>\(parts.joined())</ListPartsResult>")
    }

    private static func complete(_ request: RecordedRequest, _ key: String, _ state: inout State) -> Reply {
        guard let id = request.query("uploadId"), let upload = state.uploads[id] else {
            return error(404, "NoSuchUpload")
        }
        let wanted = S3Document(request.body)?.all("Part").compactMap { $0["PartNumber"].flatMap { Int($0) } } ?? []
        guard !wanted.isEmpty, wanted.allSatisfy({ upload.parts[$0] != nil }) else { return error(400, "InvalidPart") }
        let data = wanted.reduce(into: Data()) { $0.append(upload.parts[$1] ?? Data()) }
        state.objects[key] = Object(data: data, headers: upload.headers)
        state.uploads[id] = nil
        return xml("<CompleteMultipartUploadResult><ETag>x</ETag></CompleteMultipartUploadResult>")
    }

    private static func list(_ request: RecordedRequest, _ state: State) -> Reply {
        let prefix = String(decoding: PercentText.decoded(request.query("prefix") ?? ""), as: UTF8.self)
        if request.query("uploads") != nil {
            let uploads = state.uploads.filter { $0.value.key.hasPrefix(prefix) }.sorted { $0.key < $1.key }.map {
                "<Upload><Key>\($0.value.key)</Key><UploadId>\($0.key)</UploadId>"
                    + "<Initiated>2026-01-01T00:00:00.000Z</Initiated></Upload>"
            }
            return xml("<ListMultipartUploadsResult>\(uploads.joined())</ListMultipartUploadsResult>")
        }
        // Two to a page, so that every listing has pages.
        let keys = state.objects.keys.filter { $0.hasPrefix(prefix) }.sorted()
        let start = request.query("continuation-token").flatMap { Int($0) } ?? 0
        let page = keys.dropFirst(start).prefix(2).compactMap { key in
            state.objects[key].map { object in
                "<Contents><Key>\(key)</Key><Size>\(object.data.count)</Size><LastModified>"
                    + "\(object.modified.formatted(.iso8601))</LastModified></Contents>"
            }
        }
        let isCut = start + 2 < keys.count
        return xml(
            "<ListBucketResult><IsTruncated>\(isCut)</IsTruncated>\(page.joined())"
                + (isCut ? "<NextContinuationToken>\(start + 2)</NextContinuationToken>" : "") + "</ListBucketResult>")
    }
}
