import CPage
import Foundation
import HearthBase
import HearthHTTP

/// The files of the page, which are part of the program.
package final class PageFiles: Sendable {
    /// One file as it is sent.
    private struct File: Sendable {
        let bytes: [UInt8]
        let packed: [UInt8]?
        let tag: String
    }

    /// Allows what the page's own files need and nothing else: no inline script or style, no other host, no frame, no form.
    static let policy = [
        "default-src 'none'", "script-src 'self'", "style-src 'self'", "img-src 'self' data: blob:",
        "font-src 'self'",
        "connect-src 'self'", "manifest-src 'self'", "base-uri 'none'", "form-action 'none'",
        "frame-ancestors 'none'",
        "require-trusted-types-for 'script'", "trusted-types dompurify hearth",
    ].joined(separator: "; ")

    private let names: [String: Int]
    private let known = Locked<[String: File]>([:])
    /// A folder whose files are read at each request, for work on the page.
    private let folder: Path?
    /// Prints an address that signs a browser in.
    private let command: String
    /// The files of the page that asks for a code, for browsers without a session. They hold no data, as all files here.
    private static let open: Set<String> = ["sign-in.js", "sign-in.css", "icon.svg"]

    /// - Parameters:
    ///   - folder: replaces the files of the program; `nil` for these.
    ///   - command: prints an address that signs a browser in.
    package init(folder: Path? = nil, command: String = "hearth serve") {
        self.folder = folder
        self.command = command
        var names: [String: Int] = [:]
        for index in 0..<hearth_page_count() { names[String(cString: hearth_page_file_at(index).name)] = index }
        self.names = names
    }

    /// The names of all files.
    var all: [String] { names.keys.sorted() }

    /// Whether a browser without a session gets the file of a path.
    static func isOpen(_ path: String) -> Bool {
        path.hasPrefix("/page/") && open.contains(String(path.dropFirst("/page/".count)))
    }

    /// The reply to a request for `/` or `/page/NAME`; `nil` for other paths.
    package func reply(to request: ServerRequest) async -> ServerReply? {
        let path = request.target.path
        let isStart = path == "/"
        guard isStart || path.hasPrefix("/page/") else { return nil }
        guard request.caller.getsPage || Self.isOpen(path) else { return signIn(status: 401) }
        let name = isStart ? "index.html" : String(path.dropFirst("/page/".count))
        guard let file = await file(name) else {
            return Self.secured(.text(404, "The page has no such file."))
        }
        return Self.secured(Self.reply(file, name, request))
    }

    private func file(_ name: String) async -> File? {
        if let folder, let file = await Self.read(name, in: folder) { return file }
        if let file = known.withLock({ $0[name] }) { return file }
        guard let index = names[name] else { return nil }
        // Packing a large file takes longer than a cooperative thread may be blocked.
        return await blocking { [known] in
            let entry = hearth_page_file_at(index)
            let file = Self.file(Array(UnsafeBufferPointer(start: entry.bytes, count: entry.length)), name)
            known.withLock { $0[name] = file }
            return file
        }
    }

    private static func file(_ bytes: [UInt8], _ name: String) -> File {
        // What others wrote is sent as they wrote it.
        let isOwn = name.hasSuffix(".js") && !name.hasPrefix("lib/")
        let bytes = isOwn ? withoutComments(bytes) : bytes
        return File(
            bytes: bytes, packed: bytes.count >= 1024 ? Gzip.packed(bytes) : nil,
            tag: String(SHA256Digest(hashing: Data(bytes)).hex.prefix(32)))
    }

    private static func read(_ name: String, in folder: Path) async -> File? {
        let parts = name.split(separator: "/", omittingEmptySubsequences: false)
        guard parts.allSatisfy({ !$0.isEmpty && !$0.hasPrefix(".") }) else { return nil }
        // A file that is not in the folder may be in the program.
        return try? await blocking {
            let path = parts.reduce(folder) { $0.joined(String($1)) }
            return file([UInt8](try LocalFileSystem().contents(ofFile: path, limit: 16 << 20)), name)
        }
    }

    /// A script without the lines that are comments: a fifth of what is sent. No text of the page's scripts has a line that
    /// begins with `//`.
    static func withoutComments(_ script: [UInt8]) -> [UInt8] {
        let lines = script.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        let code = lines.filter { !$0.drop { $0 == UInt8(ascii: " ") }.starts(with: "//".utf8) }
        return Array(code.joined(separator: "\n".utf8))
    }

    private static func reply(_ file: File, _ name: String, _ request: ServerRequest) -> ServerReply {
        var headers: HTTPHeaders = ["Content-Type": type(of: name), "Vary": "Accept-Encoding"]
        let isPacked = file.packed != nil && ServerReply.takesGzip(request.headers.joined("Accept-Encoding"))
        let tag = isPacked ? "W/\"\(file.tag)\"" : "\"\(file.tag)\""
        headers["ETag"] = tag
        // Asked again each time, and then answered with 304: another version of the program has other files.
        headers["Cache-Control"] = "private, no-cache"
        if (request.headers.joined("If-None-Match") ?? "").contains(file.tag) {
            return ServerReply(status: 304, headers: headers)
        }
        if isPacked, let packed = file.packed {
            headers["Content-Encoding"] = "gzip"
            return ServerReply(status: 200, headers: headers, body: .bytes(packed))
        }
        return ServerReply(status: 200, headers: headers, body: .bytes(file.bytes))
    }

    private static func type(of name: String) -> String {
        switch name.split(separator: ".").last {
        case "html": "text/html; charset=utf-8"
        case "js": "text/javascript; charset=utf-8"
        case "css": "text/css; charset=utf-8"
        case "json": "application/json"
        case "webmanifest": "application/manifest+json"
        case "svg": "image/svg+xml"
        case "png": "image/png"
        case "ico": "image/x-icon"
        case "woff2": "font/woff2"
        default: "text/plain; charset=utf-8"
        }
    }

    /// The reply with the fields that keep other sites and injected content out.
    private static func secured(_ reply: ServerReply) -> ServerReply {
        var reply = reply
        reply.headers["Content-Security-Policy"] = policy
        reply.headers["X-Content-Type-Options"] = "nosniff"
        reply.headers["X-Frame-Options"] = "DENY"
        reply.headers["Referrer-Policy"] = "no-referrer"
        reply.headers["Cross-Origin-Opener-Policy"] = "same-origin"
        reply.headers["Cross-Origin-Resource-Policy"] = "same-origin"
        reply.headers["Permissions-Policy"] = "camera=(self), microphone=(), geolocation=()"
        return reply
    }

    /// The page that asks for a code. A link of another site brings no cookie the first time; the link on it does.
    /// - Parameter refusal: why the code of the address is refused; `nil` for a good one, which the page sends, and for none.
    func signIn(refusal: OneTimeCodes.Refusal?) -> ServerReply {
        var reply = signIn(status: refusal?.failure.status ?? 200, code: refusal?.failure.code ?? "")
        reply.headers["Retry-After"] = refusal?.reply.headers["Retry-After"]
        return reply
    }

    /// The words stand in `sign-in.js` in each language; those here are for browsers without scripts.
    private func signIn(status: Int, code: String = "") -> ServerReply {
        let text = """
            <!doctype html>
            <html lang="en">
            <meta charset="utf-8">
            <meta name="viewport" content="width=device-width, initial-scale=1, interactive-widget=resizes-content">
            <meta name="color-scheme" content="light dark">
            <title>Hearth</title>
            <link rel="icon" href="/page/icon.svg" type="image/svg+xml">
            <link rel="stylesheet" href="/page/sign-in.css">
            <script type="module" src="/page/sign-in.js"></script>
            <main data-refusal="\(code)" data-command="\(command)">
            <img src="/page/icon.svg" alt="" width="56" height="56">
            <h1>Sign in to Hearth</h1>
            <p id="lead">This browser is not signed in. Run <code>\(command)</code> on the machine with Hearth, and open the
            address that it prints, or type its code here.</p>
            <form>
            <label for="code">Code</label>
            <input id="code" name="code" autocomplete="one-time-code" autocapitalize="characters" spellcheck="false"
            required aria-describedby="problem">
            <button type="submit">Sign in</button>
            <p id="problem" role="alert"></p>
            </form>
            <noscript><p>This page needs JavaScript.</p></noscript>
            <p><a href="/">Signed in already? Go to Hearth</a></p>
            </main>
            </html>

            """
        return Self.secured(
            ServerReply(
                status: status, headers: ["Content-Type": "text/html; charset=utf-8", "Cache-Control": "no-store"],
                body: .bytes(Array(text.utf8))))
    }
}
