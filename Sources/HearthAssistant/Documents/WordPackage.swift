import Foundation
import HearthBase

#if os(Linux)
import CArchive

/// The parts of a .docx file that are read: an archive in memory, whose other entries are skipped without being unpacked.
struct WordPackage {
    private(set) var body = Data()
    private(set) var styles = Data()

    private static let body = "word/document.xml"
    private static let styles = "word/styles.xml"
    private static let maximumEntries = 10_000
    /// The most unpacked bytes of a part: a bomb of kilobytes can unpack to gigabytes.
    static let maximumPart = 64 << 20

    /// Blocks.
    /// - Throws: ``AssistantError`` with `unreadable-document`, `unknown-document` or `large-document`.
    init(_ data: Data) throws {
        guard let archive = archive_read_new() else { throw DocumentReader.unreadable("no memory is left") }
        defer { archive_read_free(archive) }
        archive_read_support_format_zip_seekable(archive)
        try data.withUnsafeBytes { bytes in
            guard archive_read_open_memory(archive, bytes.baseAddress, bytes.count) == ARCHIVE_OK else {
                throw Self.damaged
            }
            try readEntries(archive)
        }
    }

    private static var damaged: AssistantError { DocumentReader.unreadable("the archive is cut off or damaged") }

    private mutating func readEntries(_ archive: OpaquePointer) throws {
        var found: Set<String> = []
        for _ in 0..<Self.maximumEntries {
            var entry: OpaquePointer?
            let status = archive_read_next_header(archive, &entry)
            if status == ARCHIVE_EOF { break }
            // A warning is about the name of another entry.
            guard status == ARCHIVE_OK || status == ARCHIVE_WARN, let entry else { throw Self.damaged }
            guard let pointer = archive_entry_pathname(entry) else { continue }
            let name = String(cString: pointer)
            // Of two entries with one name programs see different ones.
            if name == Self.body || name == Self.styles, !found.insert(name).inserted { throw Self.damaged }
            if name == Self.body, archive_entry_is_encrypted(entry) == 1 { throw DocumentReader.encrypted }
            if name == Self.body { body = try Self.contents(archive) }
            if name == Self.styles { styles = try Self.contents(archive) }
        }
        guard found.contains(Self.body) else {
            throw DocumentReader.unknown("the archive is no document of Word: \(Self.body) is missing")
        }
    }

    private static func contents(_ archive: OpaquePointer) throws -> Data {
        var data = Data()
        var block = [UInt8](repeating: 0, count: 64 << 10)
        while true {
            let count = archive_read_data(archive, &block, block.count)
            if count == 0 { return data }
            guard count > 0 else { throw damaged }
            data += block[..<count]
            guard data.count <= maximumPart else {
                throw AssistantError(
                    .largeDocument, "the document unpacks to more than \(ByteCount(UInt64(maximumPart)))",
                    context: ErrorContext(
                        expected: "\(maximumPart)", found: "\(data.count)", remedy: "Attach the part that matters."),
                    disposition: .usage)
            }
        }
    }
}
#else
/// Only Linux has the reader of archives.
struct WordPackage {
    let body = Data()
    let styles = Data()

    init(_ data: Data) throws { throw DocumentReader.unknown("archives are not read on this system") }
}
#endif
