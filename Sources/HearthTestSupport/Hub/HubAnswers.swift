import Foundation
import HearthBase
import HearthHTTP

/// Decides the responses of a hub from its repositories.
struct HubAnswers: Sendable {
    let state: TestHub.State
    let token: String
    let storagePort: UInt16

    /// The storage serves signed addresses. Like S3, it refuses other credentials in addition to the signature.
    static func storage(_ request: RecordedRequest, _ state: TestHub.State) -> Reply {
        guard request.headers["Authorization"] == nil else {
            return .text("<Error><Code>InvalidArgument</Code></Error>", status: 400)
        }
        let digest = request.path.split(separator: "/").last.map(String.init) ?? ""
        guard let content = state.stored[digest], request.query("X-Signature") == "of-\(digest)" else {
            return Reply(403)
        }
        return FaultServer.answer(request, with: content, etag: "\"storage-\(digest.prefix(8))\"")
    }

    func answer(_ request: RecordedRequest) -> Reply {
        let names = request.path.split(separator: "/").map { String($0).removingPercentEncoding ?? "" }
        if names == ["api", "models"] { return search(request) }
        if names.count >= 4, names[0] == "api", names[1] == "models" {
            return api(request, repository: "\(names[2])/\(names[3])", Array(names.dropFirst(4)))
        }
        if names.count >= 5, names[2] == "resolve" {
            let path = names.dropFirst(4).joined(separator: "/")
            return resolve(request, repository: "\(names[0])/\(names[1])", revision: names[3], path)
        }
        return Self.failure(404, nil, "Not found")
    }

    // MARK: - The API

    /// The repositories whose names hold all words, the most downloaded first.
    private func search(_ request: RecordedRequest) -> Reply {
        let words = (request.query("search")?.removingPercentEncoding ?? "").lowercased().split { " +".contains($0) }
        let wanted = request.query("filter")
        let found = state.repositories.filter { name, _ in
            visible(name, request) != nil && words.allSatisfy { name.lowercased().contains($0) }
        }
        let rows = found.sorted { ($1.value.downloads, $0.key) < ($0.value.downloads, $1.key) }
            .compactMap { name, repository -> [String: Any]? in
                guard let commit = repository.revisions["main"], let files = repository.commits[commit],
                    wanted != "gguf" || files.keys.contains(where: { $0.hasSuffix(".gguf") })
                else { return nil }
                var row = facts(name, repository, commit, files)
                row["downloads"] = repository.downloads
                if let parameters = repository.parameters { row["gguf"] = ["total": parameters] }
                return row
            }
        return Self.json(Array(rows.prefix(request.query("limit").flatMap { Int($0) } ?? 1000)))
    }

    private func api(_ request: RecordedRequest, repository name: String, _ rest: [String]) -> Reply {
        if let moved = moved(request, name) { return moved }
        guard let repository = visible(name, request) else { return missing(request) }
        let revision = rest.count > 1 ? rest[1] : "main"
        guard let commit = commit(revision, of: repository), let files = repository.commits[commit] else {
            return Self.failure(404, "RevisionNotFound", "Invalid rev id: \(revision)")
        }
        switch rest.first {
        case nil, "revision": return Self.json(facts(name, repository, commit, files))
        case "tree": return tree(request, files)
        default: return Self.failure(404, nil, "Not found")
        }
    }

    private func facts(
        _ name: String, _ repository: TestHub.Repository, _ commit: String, _ files: [String: TestHub.File]
    ) -> [String: Any] {
        [
            "_id": "621ffdc036468d709f17434d", "id": name, "modelId": name, "sha": commit,
            "author": String(name.prefix { $0 != "/" }), "private": repository.access == .tokenHolders,
            "gated": repository.access == .gated ? "manual" as Any : false, "disabled": false, "downloads": 1,
            "likes": 0, "tags": ["gguf", "license:apache-2.0"], "lastModified": "2026-11-21T00:00:00.000Z",
            "createdAt": "2026-11-20T00:00:00.000Z", "cardData": ["license": "apache-2.0"],
            "siblings": files.keys.sorted().map { ["rfilename": $0] },
        ]
    }

    private func tree(_ request: RecordedRequest, _ files: [String: TestHub.File]) -> Reply {
        var entries = files.sorted { $0.key < $1.key }.map { Self.entry($0.key, $0.value) }
        if request.query("recursive")?.lowercased() == "true" {
            let folders = Set(files.keys.compactMap { $0.contains("/") ? $0.split(separator: "/").first : nil })
            entries += folders.sorted().map { folder -> [String: Any] in
                [
                    "type": "directory", "oid": String(repeating: "a", count: 40), "size": 0,
                    "path": String(folder),
                ]
            }
        }
        let start = request.query("cursor").flatMap { Int($0) } ?? 0
        let page = Array(entries.dropFirst(start).prefix(state.pageSize))
        var reply = Self.json(page)
        if start + page.count < entries.count {
            let query = request.target.split(separator: "?").dropFirst().first?.split(separator: "&") ?? []
            let kept = query.filter { !$0.hasPrefix("cursor=") } + ["cursor=\(start + page.count)"]
            let host = request.headers["Host"] ?? ""
            let next = "http://\(host)\(request.path)?\(kept.joined(separator: "&"))"
            reply.headers["Link"] = "<\(next)>; rel=\"next\""
        }
        return reply
    }

    private static func entry(_ path: String, _ file: TestHub.File) -> [String: Any] {
        var entry: [String: Any] = ["type": "file", "path": path, "size": file.content.count]
        entry["oid"] = gitID(of: file)
        if file.isLarge {
            entry["lfs"] = [
                "oid": SHA256Digest(hashing: file.content.bytes).hex, "size": file.content.count,
                "pointerSize": pointer(to: file).utf8.count,
            ]
        }
        return entry
    }

    /// The pointer that git holds in place of a large file.
    private static func pointer(to file: TestHub.File) -> String {
        "version https://git-lfs.github.com/spec/v1\noid sha256:\(SHA256Digest(hashing: file.content.bytes))\n"
            + "size \(file.content.count)\n"
    }

    private static func gitID(of file: TestHub.File) -> String {
        GitBlobID(hashing: file.isLarge ? Array(pointer(to: file).utf8) : Array(file.content.bytes)).hex
    }

    // MARK: - Files

    private func resolve(
        _ request: RecordedRequest, repository name: String, revision: String, _ path: String
    ) -> Reply {
        if let moved = moved(request, name) { return moved }
        guard let repository = visible(name, request) else { return missing(request) }
        if repository.access == .gated, !isAuthorized(request) {
            return Self.failure(
                401, "GatedRepo", "Access to model \(name) is restricted and you are not in the authorized list.")
        }
        guard let commit = commit(revision, of: repository), let files = repository.commits[commit] else {
            return Self.failure(404, "RevisionNotFound", "Invalid rev id: \(revision)")
        }
        guard let file = files[path] else {
            return Self.failure(404, "EntryNotFound", "Entry not found").header("X-Repo-Commit", commit)
        }
        let gitID = Self.gitID(of: file)
        guard file.isLarge else {
            return FaultServer.answer(request, with: file.content, etag: "\"\(gitID)\"")
                .header("X-Repo-Commit", commit).header("Content-Type", "text/plain; charset=utf-8")
        }
        let digest = SHA256Digest(hashing: file.content.bytes).hex
        return Reply.redirect("http://127.0.0.1:\(storagePort)/lfs/\(digest)?X-Signature=of-\(digest)")
            .header("X-Repo-Commit", commit).header("X-Linked-ETag", "\"\(digest)\"")
            .header("X-Linked-Size", "\(file.content.count)").header("ETag", "\"\(gitID)\"")
    }

    // MARK: - Access

    private func isAuthorized(_ request: RecordedRequest) -> Bool {
        request.headers["Authorization"] == "Bearer \(token)"
    }

    private func visible(_ name: String, _ request: RecordedRequest) -> TestHub.Repository? {
        guard let repository = state.repositories[name] else { return nil }
        return repository.access == .tokenHolders && !isAuthorized(request) ? nil : repository
    }

    /// A client without an account does not learn whether a repository is missing or private.
    private func missing(_ request: RecordedRequest) -> Reply {
        switch request.headers["Authorization"] {
        case nil: Self.failure(401, "RepoNotFound", "Repository not found")
        case "Bearer \(token)": Self.failure(404, "RepoNotFound", "Repository not found")
        default: Self.failure(401, nil, "Invalid credentials in Authorization header")
        }
    }

    private func moved(_ request: RecordedRequest, _ name: String) -> Reply? {
        guard let new = state.renamed[name] else { return nil }
        let names = request.target.split(separator: "/\(name)", maxSplits: 1, omittingEmptySubsequences: false)
        return .redirect(names.joined(separator: "/\(new)"), status: 307)
    }

    private func commit(_ revision: String, of repository: TestHub.Repository) -> String? {
        repository.revisions[revision] ?? (repository.commits[revision] == nil ? nil : revision)
    }

    // MARK: - Replies

    private static func json(_ value: Any) -> Reply {
        // The value above is JSON; a mistake in it would show as an empty response.
        let data = (try? JSONSerialization.data(withJSONObject: value, options: [.sortedKeys])) ?? Data()
        return Reply(headers: ["Content-Type": "application/json; charset=utf-8"], body: .data(data))
    }

    private static func failure(_ status: Int, _ code: String?, _ message: String) -> Reply {
        var reply = json(["error": message])
        reply.status = status
        if let code { reply.headers["X-Error-Code"] = code }
        reply.headers["X-Error-Message"] = message
        return reply
    }
}
