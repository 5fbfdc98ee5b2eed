import Foundation
import HearthAssistant
import HearthBase
import HearthInference

/// The facts of an uploaded document.
struct UploadedDocumentBody: Codable, Sendable, Hashable {
    var id: String
    var name: String
    var kind: DocumentKind
    /// The bytes of the file, and the characters of its text.
    var bytes: Int
    var characters: Int
    /// The pages of a PDF file, and those whose text was read.
    var pages: Int?
    var pagesRead: Int?
    /// Whether the text ends before the document does.
    var isCut: Bool
    /// Whether the pages are pictures without text; the first of them go with the message.
    var isScanned: Bool
    var pictures: Int
    var tokens: Int
    /// Whether the tokens are estimated, because no model is loaded that could count them.
    var isEstimated: Bool
}

/// The facts of a document of a message.
struct DocumentBody: Codable, Sendable, Hashable {
    var name: String
    var kind: DocumentKind
    var bytes: Int
    var characters: Int
    var pages: Int?
    var pagesRead: Int?
    var isCut: Bool
    var isScanned: Bool
    /// The address of the text.
    var url: String

    init(_ document: Document, url: String) {
        name = document.name
        kind = document.kind
        bytes = document.bytes
        characters = document.characters
        pages = document.pages
        pagesRead = document.pagesRead
        isCut = document.isCut
        isScanned = document.isScanned
        self.url = url
    }
}

/// A document that was read, with the pictures of its pages if they have no text.
struct UploadedDocument: Sendable {
    var document: Document
    var pictures: [ChatImage] = []
    var tokens: Int
    var isEstimated: Bool
}

/// Uploaded documents that wait for their message.
final class DocumentDesk: Sendable {
    /// The bounds of the waiting documents.
    struct Bounds: Sendable {
        var count = 32
        /// The bytes of their texts and pictures.
        var bytes = 128 << 20
        var lifetime: TimeInterval = 3600
    }

    private struct Entry: Sendable {
        let id: String
        let uploaded: UploadedDocument
        let until: Date

        var size: Int { uploaded.document.text.utf8.count + uploaded.pictures.reduce(0) { $0 + $1.bytes.count } }
    }

    /// The most documents of a message.
    static let mostOfMessage = 10

    let reader: DocumentReader
    private let bounds: Bounds
    private let time: TimeSource
    private let entries = Locked<[Entry]>([])
    /// One document is read at a time: a hostile one may take a minute and gigabytes.
    private let turn = TurnQueue()

    init(reader: DocumentReader = DocumentReader(), bounds: Bounds = Bounds(), time: TimeSource) {
        self.reader = reader
        self.bounds = bounds
        self.time = time
    }

    /// Reads a document in its turn; small ones come first.
    /// - Parameter count: counts the tokens of a text; `nil` if no loaded model can.
    func read(
        _ file: Path, named name: String, pages: Int, size: Int, count: @Sendable (String) async -> Int?
    ) async throws -> UploadedDocument {
        var reader = reader
        reader.limits.pages = pages
        let (chosen, limits) = (reader, reader.limits)
        let document = try await turn.turnUnlessCancelled(size: size) {
            try await blocking { try chosen.read(file, named: name) }
        }
        var uploaded = UploadedDocument(document: document, tokens: 0, isEstimated: true)
        if document.isScanned {
            let wanted = min(document.pages ?? 1, limits.pictures)
            uploaded.pictures = try await turn.turnUnlessCancelled(size: size) {
                try await blocking { try chosen.pictures(of: file, pages: wanted).map { try ChatImage($0) } }
            }
        }
        if let tokens = await count(document.text) {
            (uploaded.tokens, uploaded.isEstimated) = (tokens, false)
        } else {
            uploaded.tokens = TokenMeter.estimate(document.text)
        }
        return uploaded
    }

    /// Keeps a document; the oldest ones leave when the bounds are reached.
    func add(_ uploaded: UploadedDocument) -> UploadedDocumentBody {
        let now = time.now
        let entry = Entry(id: Claim.newToken(), uploaded: uploaded, until: now.addingTimeInterval(bounds.lifetime))
        entries.withLock { [bounds] entries in
            entries.removeAll { $0.until <= now }
            entries.append(entry)
            while entries.count > bounds.count || entries.reduce(0, { $0 + $1.size }) > bounds.bytes {
                entries.removeFirst()
            }
        }
        return Self.body(entry.id, uploaded)
    }

    func body(_ id: String) throws -> UploadedDocumentBody { Self.body(id, try document(id)) }

    /// The document with an id.
    /// - Throws: ``NativeFailure`` with `not-found`.
    func document(_ id: String) throws -> UploadedDocument {
        let now = time.now
        let found = entries.withLock { entries in entries.first { $0.id == id && $0.until > now } }
        guard let found else {
            throw NativeFailure(
                404, "not-found", "the document is no longer here", remedy: "Add it again.", field: "documents")
        }
        return found.uploaded
    }

    /// The documents with the given ids.
    /// - Throws: ``NativeFailure``.
    func documents(_ ids: [String]) throws -> [UploadedDocument] {
        guard ids.count <= Self.mostOfMessage else {
            throw NativeFailure.bad("documents", "at most \(Self.mostOfMessage) ids")
        }
        return try ids.map(document)
    }

    func remove(_ ids: [String]) { entries.withLock { entries in entries.removeAll { ids.contains($0.id) } } }

    private static func body(_ id: String, _ uploaded: UploadedDocument) -> UploadedDocumentBody {
        let document = uploaded.document
        return UploadedDocumentBody(
            id: id, name: document.name, kind: document.kind, bytes: document.bytes,
            characters: document.characters, pages: document.pages, pagesRead: document.pagesRead,
            isCut: document.isCut, isScanned: document.isScanned, pictures: uploaded.pictures.count,
            tokens: uploaded.tokens, isEstimated: uploaded.isEstimated)
    }
}
