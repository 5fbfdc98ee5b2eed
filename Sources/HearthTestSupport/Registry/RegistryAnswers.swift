import Foundation
import HearthBase
import HearthHTTP

/// The answers of a ``TestRegistry`` (OCI distribution specification 1.1, without referrers).
struct RegistryAnswers {
    let state: Locked<TestRegistry.State>
    let storagePort: UInt16
    let tokenPort: UInt16

    func answer(_ request: RecordedRequest) -> Reply {
        if let challenge = challenge(request) { return challenge }
        guard let (repository, kind, name) = parts(request.path) else { return Self.error(404, "NAME_UNKNOWN") }
        switch (request.method, kind) {
        case ("GET", "manifests"), ("HEAD", "manifests"): return manifest("\(repository)/\(name)", repository)
        case ("PUT", "manifests"): return put("\(repository)/\(name)", request.body, repository)
        case ("GET", "blobs") where name.hasPrefix("uploads/"): return progress(repository, name)
        case ("GET", "blobs"), ("HEAD", "blobs"): return blob(name, request)
        case ("POST", "blobs"): return begin(repository)
        case ("PATCH", "blobs"), ("PUT", "blobs"): return upload(repository, name, request)
        default: return Self.error(404, "UNSUPPORTED")
        }
    }

    private func challenge(_ request: RecordedRequest) -> Reply? {
        let (access, token) = state.withLock { ($0.access, $0.token) }
        let given = request.headers["Authorization"]
        switch access {
        case .everybody: return nil
        case .basic:
            if given == "Basic " + Data(TestRegistry.account.utf8).base64EncodedString() { return nil }
            return Self.error(401, "UNAUTHORIZED").header("WWW-Authenticate", #"Basic realm="test""#)
        case .tokens, .accounts:
            if given == "Bearer token-\(token)" { return nil }
            let realm = #"Bearer realm="http://127.0.0.1:\#(tokenPort)/token",service="test, registry""#
            return Self.error(401, "UNAUTHORIZED").header("WWW-Authenticate", realm)
        }
    }

    /// The repository, `manifests` or `blobs`, and what stands after.
    private func parts(_ path: String) -> (String, String, String)? {
        for kind in ["manifests", "blobs"] {
            guard path.hasPrefix("/v2/"), let mark = path.range(of: "/\(kind)/", options: .backwards) else { continue }
            return (String(path[..<mark.lowerBound].dropFirst(4)), kind, String(path[mark.upperBound...]))
        }
        return nil
    }

    private func manifest(_ name: String, _ repository: String) -> Reply {
        let (manifest, isKnown) = state.withLock { state in
            (state.manifests[name], state.manifests.keys.contains { $0.hasPrefix(repository + "/") })
        }
        guard let manifest else { return Self.error(404, isKnown ? "MANIFEST_UNKNOWN" : "NAME_UNKNOWN") }
        return Reply(
            headers: [
                "Content-Type": "application/vnd.oci.image.manifest.v1+json",
                "Docker-Content-Digest": "sha256:" + SHA256Digest(hashing: manifest).hex,
            ], body: .data(manifest))
    }

    private func put(_ name: String, _ manifest: Data, _ repository: String) -> Reply {
        let digest = "sha256:" + SHA256Digest(hashing: manifest).hex
        let wanted = (try? JSONValue(parsing: manifest)).map { document in
            ((document["layers"]?.items ?? []) + [document["config"]].compactMap(\.self))
                .compactMap { $0["digest"]?.string }
        }
        return state.withLock { state in
            guard let wanted, wanted.allSatisfy({ state.blobs[$0] != nil }) else {
                return Self.error(400, "MANIFEST_BLOB_UNKNOWN")
            }
            state.manifests[name] = manifest
            state.manifests["\(repository)/\(digest)"] = manifest
            return Reply(201, headers: ["Docker-Content-Digest": digest])
        }
    }

    private func blob(_ digest: String, _ request: RecordedRequest) -> Reply {
        let (blob, redirects) = state.withLock { ($0.blobs[digest], $0.redirects) }
        guard let blob else { return Self.error(404, "BLOB_UNKNOWN") }
        if redirects { return .redirect("http://localhost:\(storagePort)/\(digest)", status: 307) }
        return FaultServer.answer(request, with: blob, etag: "\"\(digest)\"")
    }

    // MARK: - Uploads

    private func begin(_ repository: String) -> Reply {
        let id = state.withLock { state in
            let id = "upload-\(state.uploads.count)"
            state.uploads[id] = Data()
            return id
        }
        return Reply(202, headers: ["Location": "/v2/\(repository)/blobs/uploads/\(id)?_state=0"])
    }

    /// Tells the bytes of an upload so far.
    private func progress(_ repository: String, _ name: String) -> Reply {
        let count = state.withLock { $0.uploads[String(name.dropFirst("uploads/".count))]?.count }
        guard let count else { return Self.error(404, "BLOB_UPLOAD_UNKNOWN") }
        return Reply(
            204,
            headers: [
                "Location": "/v2/\(repository)/blobs/\(name)?_state=\(count)", "Range": "0-\(max(0, count - 1))",
            ])
    }

    private func upload(_ repository: String, _ name: String, _ request: RecordedRequest) -> Reply {
        let id = String(name.dropFirst("uploads/".count))
        return state.withLock { state in
            guard var data = state.uploads[id] else { return Self.error(404, "BLOB_UPLOAD_UNKNOWN") }
            if let range = request.headers["Content-Range"], !range.hasPrefix("\(data.count)-") {
                return Reply(416, headers: ["Range": "0-\(max(0, data.count - 1))"])
            }
            data += request.body
            state.uploads[id] = data
            guard request.method == "PUT" else {
                return Reply(
                    202,
                    headers: [
                        "Location": "/v2/\(repository)/blobs/uploads/\(id)?_state=\(data.count)",
                        "Range": "0-\(max(0, data.count - 1))",
                    ])
            }
            let digest = "sha256:" + SHA256Digest(hashing: data).hex
            guard request.query("digest")?.removingPercentEncoding == digest else {
                return Self.error(400, "DIGEST_INVALID")
            }
            state.uploads[id] = nil
            state.blobs[digest] = .data(data)
            return Reply(201, headers: ["Docker-Content-Digest": digest])
        }
    }

    private static func error(_ status: Int, _ code: String) -> Reply {
        .text(#"{"errors": [{"code": "\#(code)", "message": "as the test wants"}]}"#, status: status)
    }
}
