import Foundation
import HearthBase

/// Answers requests for `file:` addresses like a web server, for origins on a disk or a network share.
///
/// Supports `GET`, `HEAD`, and ranges with `If-Range`. The `ETag` is strong: size, modification time and inode. The
/// status is 404 for a missing file or an impossible path (a name too long, circular links), and 403 for a folder or an
/// unreadable file. A failing disk or share is reported as a lost connection, with the system's error underneath.
package struct FileHTTPClient: HTTPClient {
    /// The bytes of one chunk.
    private static let chunkSize = 512 << 10

    private let fileSystem: any FileSystem

    /// A client that reads from `fileSystem`.
    package init(fileSystem: any FileSystem = LocalFileSystem()) { self.fileSystem = fileSystem }

    package func execute(_ request: HTTPRequest) async throws -> HTTPResponse {
        let path = try Self.path(request)
        let fileSystem = fileSystem
        let found = try await blocking { try Self.find(path, in: fileSystem) }
        try Task.checkCancellation()
        guard let (file, status) = found.file else { return Self.empty(found.status, [:], request) }
        return try respond(request, file, status)
    }

    /// The file and its status; `nil` with the status for the response if there is no readable file.
    private static func find(_ path: Path, in fileSystem: any FileSystem) throws -> (
        file: (OpenFile, FileStatus)?, status: Int
    ) {
        do {
            guard let status = try fileSystem.status(at: path) else { return (nil, 404) }
            guard status.kind == .file else { return (nil, 403) }
            let file = try fileSystem.open(path, .read)
            return ((file, try fileSystem.status(of: file)), 200)
        } catch let error as FileError {
            switch error.code {
            case .notFound, .notADirectory: return (nil, 404)
            case .permissionDenied: return (nil, 403)
            // No file can ever exist at such a path.
            case _ where error.isSystemError(ENAMETOOLONG, ELOOP):
                return (nil, 404)
            default: throw unreadable(path, error)
            }
        }
    }

    /// A connection error, so that the caller may try other addresses.
    private static func unreadable(_ path: Path, _ error: FileError) -> HTTPError {
        HTTPError(
            .connectionLost, "\(path.lastComponent) could not be read where it lies",
            context: ErrorContext(file: path.string), disposition: .tryLater, underlying: error)
    }

    private static func path(_ request: HTTPRequest) throws -> Path {
        func refuse(_ why: String) -> HTTPError {
            HTTPError(
                .unsupportedURL, why, context: ErrorContext(url: request.url.withoutQuery), disposition: .usage)
        }
        let host = request.url.host()?.lowercased() ?? ""
        guard request.url.isFileURL, host.isEmpty || host == "localhost" else {
            throw refuse("\(request.url.withoutQuery) is not a file of this machine")
        }
        let path = request.url.path(percentEncoded: false)
        guard path.hasPrefix("/"), !path.utf8.contains(0) else {
            throw refuse("\(request.url.withoutQuery) is not the address of a file")
        }
        guard request.method == "GET" || request.method == "HEAD" else {
            throw HTTPError(
                .badRequest, "a file can be read only, not sent to", context: ErrorContext(field: "method"),
                disposition: .usage)
        }
        return Path(path)
    }

    private func respond(_ request: HTTPRequest, _ file: OpenFile, _ status: FileStatus) throws -> HTTPResponse {
        let size = status.size
        let tag = Self.entityTag(status)
        var headers: HTTPHeaders = ["Accept-Ranges": "bytes", "ETag": tag]
        if request.headers["If-None-Match"] == tag { return Self.empty(304, headers, request) }
        let condition = request.headers["If-Range"]
        let rangeHeader = condition == nil || condition == tag ? request.headers["Range"] : nil
        let range: ByteRange?
        let code: Int
        switch ByteRange.request(rangeHeader, size: size) {
        case .whole: (code, range) = (200, ByteRange(start: 0, end: size))
        case .part(let part):
            (code, range) = (206, part)
            headers["Content-Range"] = part.responseHeader(size: size)
        case .unsatisfiable:
            headers["Content-Range"] = "bytes */\(size)"
            return Self.empty(416, headers, request)
        }
        let count = range?.count ?? 0
        headers["Content-Length"] = "\(count)"
        if let limit = request.maximumBodySize, count > limit, request.method == "GET" {
            throw HTTPError(
                .tooLarge, "\(file.path.lastComponent) is larger than it may be",
                context: ErrorContext(
                    file: file.path.string, expected: "at most \(limit) bytes", found: "\(count) bytes"))
        }
        var body = HTTPBody([])
        if let range, request.method == "GET" { body = bytes(of: file, range) }
        return HTTPResponse(status: code, headers: headers, url: request.url, body: body)
    }

    private func bytes(of file: OpenFile, _ range: ByteRange) -> HTTPBody {
        let position = Locked(range.start)
        let fileSystem = fileSystem
        return HTTPBody {
            try Task.checkCancellation()
            let start = position.withLock { $0 }
            let wanted = Int(min(UInt64(Self.chunkSize), range.end - start))
            guard wanted > 0 else { return nil }
            let chunk = try await blocking { () throws -> [UInt8] in
                do {
                    return try [UInt8](unsafeUninitializedCapacity: wanted) { buffer, count in
                        count = try fileSystem.read(file, into: UnsafeMutableRawBufferPointer(buffer), at: start)
                    }
                } catch let error as FileError {
                    throw Self.unreadable(file.path, error)
                }
            }
            guard chunk.count == wanted else {
                throw HTTPError(
                    .connectionLost, "\(file.path.lastComponent) became shorter while it was read",
                    context: ErrorContext(
                        file: file.path.string, expected: "\(range.count) bytes",
                        found: "\(start - range.start + UInt64(chunk.count)) bytes"),
                    disposition: .tryLater)
            }
            position.withLock { $0 = start + UInt64(chunk.count) }
            return chunk
        }
    }

    private static func entityTag(_ status: FileStatus) -> String {
        let modified = Int64(status.modified.timeIntervalSince1970 * 1_000_000)
        return "\"\(String(status.size, radix: 16))-\(String(modified, radix: 16))-"
            + "\(String(status.identity.inode, radix: 16))\""
    }

    private static func empty(_ status: Int, _ headers: HTTPHeaders, _ request: HTTPRequest) -> HTTPResponse {
        var headers = headers
        headers["Content-Length"] = "0"
        return HTTPResponse(status: status, headers: headers, url: request.url, body: HTTPBody([]))
    }
}

/// The client for all addresses of models: `https`, `http` to this machine, and `file:`.
package struct DefaultHTTPClient: HTTPClient {
    private let network: any HTTPClient
    private let files: FileHTTPClient

    /// Uses `network` for all addresses except files.
    package init(network: any HTTPClient, fileSystem: any FileSystem = LocalFileSystem()) {
        self.network = network
        files = FileHTTPClient(fileSystem: fileSystem)
    }

    /// A client whose user agent is `hearth/<version>`.
    package init(version: String = "1") { self.init(network: SystemHTTP.client(version: version)) }

    package func execute(_ request: HTTPRequest) async throws -> HTTPResponse {
        try await request.url.isFileURL ? files.execute(request) : network.execute(request)
    }
}
