import Foundation
import HearthBase
import HearthCatalog

#if canImport(CArchive)
import CArchive
#endif

/// A file in an archive, with a safe name.
struct ArchiveEntry: Sendable, Hashable {
    package let path: RelativePath
    /// The length in bytes; an archive with fewer or more bytes for it is refused.
    package let size: UInt64
}

/// Reads an archive from front to back and accepts only regular files with safe names. Blocks, writes nothing.
///
/// Refuses the whole archive for: absolute paths and paths that lead out, links of either kind, devices and pipes,
/// set-user-id files, names that are not UTF-8 or that two file systems would read differently, encrypted and sparse
/// files, more entries or bytes than the limits. Refuses archives that are cut off, followed by other bytes or of
/// another format than declared.
struct ArchiveReader {
    /// The archive's name, for messages.
    package let label: String
    package let format: ArchiveFormat
    let limits: ArchiveLimits
    package let fileSystem: any FileSystem
    package let flag: StopFlag
    var library = ArchiveLibrary.standard

    /// Passes on an entry's bytes, one block at a time.
    typealias Contents = (_ each: (UnsafeRawBufferPointer) throws -> Void) throws -> Void

    /// Reads an archive and passes on its files.
    /// - Parameter take: called for each file; it may read the contents or skip them.
    /// - Throws: ``StoreError``, `FileError`, `CancellationError`, and errors of `take`.
    package func read(_ archive: Path, take: (ArchiveEntry, Contents) throws -> Void) throws {
        #if canImport(CArchive)
        let names = hearth_locale_utf8()
        defer { hearth_locale_restore(names) }
        #endif
        do {
            try walk(try fileSystem.open(archive, .read), take)
        } catch let failure as ArchiveFailure {
            throw StoreError.refusedArchive(.archiveDamaged, label, failure.text)
        }
    }

    private func walk(_ file: OpenFile, _ take: (ArchiveEntry, Contents) throws -> Void) throws {
        let source = try FileSource(file, fileSystem: fileSystem, flag: flag)
        guard format != .zip else {
            let directory = try ZipDirectory(file, label: label, entries: limits.entries, fileSystem: fileSystem)
            return try walk(try entries(of: source, directory), take)
        }
        let tail = TailWatch(try unpacked(source))
        let entries = try entries(of: tail)
        try walk(entries, take)
        let end = entries.consumed
        try tail.drain()
        guard tail.contentEnd <= end else { throw ArchiveFailure(text: "other bytes follow it") }
        guard tail.count >= tail.contentEnd + 512 else { throw ArchiveFailure.cutOff }
    }

    private func walk(_ entries: any ArchiveEntries, _ take: (ArchiveEntry, Contents) throws -> Void) throws {
        var rules = ArchiveRules(label: label, limits: limits)
        while let header = try entries.nextHeader() {
            try flag.check()
            guard let entry = try rules.admit(header) else { continue }
            try deliver(entry, from: entries, take)
        }
    }

    /// The entries of a tar file, or of a zip file with its directory.
    private func entries(of source: any ByteSource, _ directory: ZipDirectory? = nil) throws -> any ArchiveEntries {
        switch library {
        #if canImport(CArchive)
        case .libarchive: try ArchiveHandle(source, as: directory == nil ? .tar : .zip)
        #endif
        case .zlib: directory.map { ZipEntries(source, $0) } ?? TarEntries(source)
        }
    }

    /// The tar file inside a compressed one.
    private func unpacked(_ source: any ByteSource) throws -> any ByteSource {
        switch (library, format) {
        case (_, .tar): return source
        case (.zlib, .tarGzip): return try GzipSource(source)
        #if canImport(CArchive)
        case (.libarchive, .tarGzip): return try UnpackedSource(source, as: .gzip)
        case (.libarchive, .tarZstandard): return try UnpackedSource(source, as: .zstandard)
        #endif
        default: throw ArchiveFailure(text: "this version does not unpack \(format.rawValue)")
        }
    }

    private func deliver(
        _ entry: ArchiveEntry, from entries: any ArchiveEntries, _ take: (ArchiveEntry, Contents) throws -> Void
    ) throws {
        var done: UInt64 = 0
        var isRead = false
        try take(entry) { each in
            isRead = true
            while let (block, offset) = try entries.nextBlock() {
                try flag.check()
                // A gap would be a hole, and bytes beyond the length would exceed the limits.
                guard offset >= 0, UInt64(offset) == done, UInt64(block.count) <= entry.size - done else {
                    throw ArchiveFailure(text: "\(entry.path) has holes or more bytes than it should")
                }
                done += UInt64(block.count)
                try each(block)
            }
            guard done == entry.size else { throw ArchiveFailure(text: "\(entry.path) is cut off") }
        }
        if !isRead { try entries.skipEntry() }
    }
}

/// Checks each entry against the limits.
private struct ArchiveRules {
    let label: String
    let limits: ArchiveLimits
    var names = DistinctPaths()
    var entries = 0
    var files = 0
    var total: UInt64 = 0

    /// The file of a header, `nil` for a folder.
    mutating func admit(_ header: ArchiveHeader) throws -> ArchiveEntry? {
        entries += 1
        guard entries <= limits.entries else { throw tooMany(limits.entries, "entries") }
        let isFolder = header.kind == .folder
        guard let text = header.name else { throw unsafe("a name in it is not UTF-8", nil) }
        guard let path = try path(text, isFolder: isFolder) else { return nil }
        guard header.kind != .other else { throw unsafe("\(path) is a link or a device", path.string) }
        guard !header.isEncrypted else { throw unsafe("\(path) is encrypted", path.string) }
        if isFolder { return nil }
        guard header.permissions & 0o7000 == 0 else {
            throw unsafe("\(path) would run with other rights than its user's", path.string)
        }
        guard !header.isSparse else { throw unsafe("\(path) is sparse", path.string) }
        guard header.compression == nil else {
            throw unsafe("it is compressed in a way that models are not", header.compression)
        }
        guard let size = header.size else { throw unsafe("\(path) does not tell its length", path.string) }
        files += 1
        guard files <= ArchiveLimits.maximumFiles else { throw tooMany(ArchiveLimits.maximumFiles, "files") }
        let (sum, isTooMuch) = total.addingReportingOverflow(size)
        guard !isTooMuch, sum <= limits.totalSize else {
            throw StoreError.refusedArchive(
                .archiveTooLarge, label, "it unpacks to more than it may",
                expected: "at most \(limits.totalSize) bytes",
                found: isTooMuch ? "more" : "\(sum) bytes")
        }
        total = sum
        if let other = names.insert(path) {
            throw unsafe("\(path) and \(other) cannot lie in one folder", path.string)
        }
        return ArchiveEntry(path: path, size: size)
    }

    /// The path of a name; `nil` for the outermost folder. Removes the harmless `./` at the beginning, and `/`
    /// after a folder.
    private func path(_ text: String, isFolder: Bool) throws -> RelativePath? {
        var name = text[...]
        while name.utf8.starts(with: "./".utf8) { name = Substring(name.utf8.dropFirst(2)) }
        if isFolder, name.utf8.last == UInt8(ascii: "/") { name = Substring(name.utf8.dropLast()) }
        if isFolder, name.isEmpty || name == "." { return nil }
        guard let path = RelativePath(name) else {
            throw unsafe("a name in it is not that of a file inside", String(text.prefix(200)).debugDescription)
        }
        if let objection = path.reservation {
            throw unsafe("\(path) has a name of the store's own (\(objection))", path.string)
        }
        return path
    }

    private func unsafe(_ problem: String, _ found: String?) -> StoreError {
        .refusedArchive(.archiveUnsafe, label, problem, found: found)
    }

    private func tooMany(_ limit: Int, _ what: String) -> StoreError {
        .refusedArchive(
            .archiveTooLarge, label, "it holds too many files", expected: "at most \(limit) \(what)", found: "more")
    }
}
