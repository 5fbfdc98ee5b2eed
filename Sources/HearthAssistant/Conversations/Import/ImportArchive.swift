import Foundation
import HearthBase

#if os(Linux)
import CArchive
#endif

/// The conversations of a ZIP archive, as ChatGPT exports them: `conversations.json`, or its parts
/// `conversations-000.json` and so on. Other entries, such as pictures, are skipped. Blocks.
struct ImportArchive {
    let archive: Path
    /// The most entries.
    var maximumEntries = 100_000
    /// The most bytes of all unpacked parts.
    var maximumSize: UInt64 = 1 << 30

    /// Whether a file begins as a ZIP archive does.
    static func isArchive(_ beginning: Data) -> Bool { beginning.starts(with: [0x50, 0x4B]) }

    /// Unpacks the parts into a folder.
    /// - Returns: the files, in the order of their names.
    /// - Throws: ``AssistantError`` with `import-unreadable`, `import-unsafe` or `import-too-large`; `FileError`.
    func unpack(into folder: Path) throws -> [Path] {
        #if os(Linux)
        let names = hearth_locale_utf8()
        defer { hearth_locale_restore(names) }
        let files = LocalFileSystem()
        let size = try files.status(of: try files.open(archive, .read)).size
        // No text packs better; an archive that unpacks to more was made to fill the disk.
        let limit = min(maximumSize, size * 50 + (16 << 20))
        guard let reader = archive_read_new() else { throw ImportDocument.unreadable("no memory is left") }
        defer { archive_read_free(reader) }
        archive_read_support_format_zip_seekable(reader)
        guard archive_read_open_filename(reader, archive.string, 64 << 10) == ARCHIVE_OK else {
            throw Self.damaged(reader)
        }
        var found: [(name: String, path: Path)] = []
        var entries = 0
        var total: UInt64 = 0
        while true {
            var entry: OpaquePointer?
            let status = archive_read_next_header(reader, &entry)
            if status == ARCHIVE_EOF { break }
            guard status == ARCHIVE_OK, let entry else { throw Self.damaged(reader) }
            entries += 1
            guard entries <= maximumEntries else { throw Self.tooLarge("\(maximumEntries) entries") }
            guard let name = try Self.partName(entry) else { continue }
            guard !found.contains(where: { $0.name == name }) else {
                throw Self.unsafe("two entries have the name \(name.quoted)")
            }
            let path = folder.joined("part-\(found.count).json")
            let file = try files.open(path, .createNew, permissions: 0o600)
            var written: UInt64 = 0
            while let block = try Self.block(reader) {
                total += UInt64(block.count)
                guard total <= limit else { throw Self.tooLarge("\(limit) bytes unpacked") }
                try files.write(file, block, at: written)
                written += UInt64(block.count)
            }
            found.append((name, path))
        }
        guard !found.isEmpty else {
            throw AssistantError(
                .importUnknown, "the archive holds no conversations.json",
                context: ErrorContext(remedy: "Choose the ZIP file as it was exported."))
        }
        return found.sorted { $0.name < $1.name }.map(\.path)
        #else
        throw ImportDocument.unreadable("this platform has no reader for archives yet")
        #endif
    }
}

#if os(Linux)
extension ImportArchive {
    /// The name of an entry with conversations; `nil` for another entry.
    private static func partName(_ entry: OpaquePointer) throws -> String? {
        guard let bytes = archive_entry_pathname(entry), let path = String(validatingCString: bytes) else {
            throw unsafe("a name in it is not UTF-8")
        }
        let parts = path.split(separator: "/", omittingEmptySubsequences: false)
        guard !path.hasPrefix("/"), !parts.contains(".."), !path.contains("\\") else {
            throw unsafe("a name in it leads out of its folder: \(path.prefix(100).debugDescription)")
        }
        guard let name = parts.last, name.wholeMatch(of: /conversations(-\d{1,6})?\.json/) != nil else { return nil }
        guard hearth_archive_is_file(entry) != 0, archive_entry_is_encrypted(entry) == 0 else {
            throw unsafe("\(path.prefix(100).debugDescription) is no plain file")
        }
        return path
    }

    private static func block(_ reader: OpaquePointer) throws -> UnsafeRawBufferPointer? {
        var start: UnsafeRawPointer?
        var count = 0
        var offset: Int64 = 0
        let status = archive_read_data_block(reader, &start, &count, &offset)
        if status == ARCHIVE_EOF { return nil }
        guard status == ARCHIVE_OK else { throw damaged(reader) }
        return UnsafeRawBufferPointer(start: start, count: count)
    }

    private static func damaged(_ reader: OpaquePointer) -> AssistantError {
        let detail = archive_error_string(reader).map { String(cString: $0) } ?? "it is broken"
        return ImportDocument.unreadable("the archive is damaged (\(detail))")
    }

    private static func unsafe(_ problem: String) -> AssistantError {
        AssistantError(.importUnsafe, "the archive is refused: \(problem)")
    }

    private static func tooLarge(_ limit: String) -> AssistantError {
        AssistantError(
            .importTooLarge, "the archive holds too much",
            context: ErrorContext(expected: "at most \(limit)", found: "more"))
    }
}
#endif
