import Foundation
import HearthAssistant
import HearthBase
import HearthHTTP

/// The routes of documents that go with messages.
struct DocumentRoutes: Sendable {
    let desk: ChatDesk

    /// The most pages that a request may ask for.
    private static let mostPages = 5000
    private static let mediaType = "application/octet-stream"

    var all: [NativeRoute] {
        [
            .raw(
                "POST", "/documents", "Upload a document for the next message: text, PDF or .docx",
                query: [
                    ("name", "the name of the file"),
                    ("pages", "the most pages of a PDF file, 1 to 5000; by default 200"),
                ],
                input: NativeRoute.Input(
                    example: nil, mediaTypes: [Self.mediaType],
                    describe: { _ in .object(["type": .string("string"), "format": .string("binary")]) },
                    check: { _ in }),
                mediaType: "application/json", status: 201, output: { try $0.schema(of: UploadedDocumentBody.self) }
            ) { call in try NativeRoute.json(try await upload(call), status: 201) },
            .plain("GET", "/documents/{id}", "The facts of an uploaded document") { call in
                try desk.documents.body(call.value("id"))
            },
            .raw("GET", "/documents/{id}/text", "The text of an uploaded document", mediaType: "text/plain") { call in
                Self.reply(try desk.documents.document(call.value("id")).document)
            },
            .plain("DELETE", "/documents/{id}", "Forget an uploaded document") { call in
                desk.documents.remove([call.value("id")])
                return EmptyBody()
            },
            .raw(
                "GET", "/chats/{id}/documents/{message}/{number}", "The text of a document of a message",
                mediaType: "text/plain"
            ) { call in
                let session = try await desk.openChat(call.value("id")).session
                guard let number = Int(call.value("number")),
                    let documents = await session.tree.message(call.value("message"))?.documents,
                    documents.indices.contains(number)
                else { throw NativeFailure.missing("such document") }
                return Self.reply(documents[number])
            },
        ]
    }

    /// A text that no browser takes for a page.
    private static func reply(_ document: Document) -> ServerReply {
        ServerReply(
            status: 200,
            headers: [
                "Content-Type": "text/plain; charset=utf-8", "Cache-Control": "no-store",
                "X-Content-Type-Options": "nosniff", "Content-Security-Policy": "default-src 'none'; sandbox",
            ], body: .bytes(Array(document.text.utf8)))
    }

    private func upload(_ call: NativeCall) async throws -> UploadedDocumentBody {
        // A form of another site cannot send this type.
        guard call.request.headers["Content-Type"]?.lowercased() == Self.mediaType else {
            throw NativeFailure(415, "media-type", "the body must be \(Self.mediaType)")
        }
        let limits = desk.documents.reader.limits
        let pages = try call.number("pages", 1...Self.mostPages, default: limits.pages)
        let folder = Self.folder(home: desk.home.path)
        try await blocking {
            let fileSystem = LocalFileSystem()
            try fileSystem.makeFolders(folder.parent, permissions: 0o700)
            try fileSystem.makeFolders(folder, permissions: 0o700)
        }
        let file = folder.joined(UUID().uuidString)
        // What stays is removed at the next start.
        defer { try? FileManager.default.removeItem(atPath: file.string) }
        let size = try await Self.write(call.request.body, to: file, limits)
        let uploaded = try await desk.documents.read(
            file, named: call.query("name") ?? "", pages: pages, size: size
        ) { text in await desk.tokens(in: text) }
        return desk.documents.add(uploaded)
    }

    /// The folder of documents while they are read.
    private static func folder(home: Path) -> Path { home.appending("server").appending("documents") }

    /// Removes the documents of ended processes. Blocks.
    static func sweep(home: Path) {
        do {
            try LocalFileSystem().removeTree(folder(home: home))
        } catch {
            Log.write(.warning, "native", "documents of an earlier process stay", [.error(error)])
        }
    }

    /// Writes a body to a file.
    /// - Returns: its bytes.
    private static func write(_ body: RequestBody, to file: Path, _ limits: DocumentLimits) async throws -> Int {
        if let length = body.declaredLength, length > UInt64(limits.bytes) { throw limits.tooLarge(length) }
        let isMade = FileManager.default.createFile(
            atPath: file.string, contents: nil, attributes: [.posixPermissions: 0o600])
        guard isMade, let handle = FileHandle(forWritingAtPath: file.string) else {
            throw NativeFailure(500, "failed", "no temporary file can be written")
        }
        // The file is removed; a failure to close it changes nothing.
        defer { try? handle.close() }
        var size = 0
        for try await chunk in body {
            size += chunk.count
            guard size <= limits.bytes else { throw limits.tooLarge(UInt64(size)) }
            try await blocking { try handle.write(contentsOf: chunk) }
        }
        return size
    }
}
