#if canImport(CArchive)
import CArchive
import Foundation
import HearthBase

/// An archive that libarchive reads from a source of bytes. Created, used and freed on one thread.
final class ArchiveHandle: ArchiveEntries {
    /// The format that libarchive is told to expect.
    enum Kind {
        /// A compressed stream of anything.
        case gzip, zstandard
        case tar, zip
    }

    let pointer: OpaquePointer
    private let feed: ArchiveFeed

    /// - Throws: ``ArchiveFailure``; errors of the source.
    init(_ source: any ByteSource, as kind: Kind) throws {
        guard let pointer = archive_read_new() else { throw ArchiveFailure(text: "no memory is left") }
        self.pointer = pointer
        feed = ArchiveFeed(source)
        switch kind {
        case .gzip:
            archive_read_support_filter_gzip(pointer)
            archive_read_support_format_raw(pointer)
        case .zstandard:
            archive_read_support_filter_zstd(pointer)
            archive_read_support_format_raw(pointer)
        case .tar: archive_read_support_format_tar(pointer)
        case .zip: archive_read_support_format_zip_seekable(pointer)
        }
        try feed.connect(pointer, isSeekable: kind == .zip)
    }

    deinit { archive_read_free(pointer) }

    func nextHeader() throws -> ArchiveHeader? {
        guard let entry = try nextEntry() else { return nil }
        let kind: ArchiveHeader.Kind =
            if archive_entry_hardlink(entry) != nil || archive_entry_symlink(entry) != nil {
                .other
            } else {
                hearth_archive_is_folder(entry) != 0 ? .folder : hearth_archive_is_file(entry) != 0 ? .file : .other
            }
        return ArchiveHeader(
            name: archive_entry_pathname(entry).flatMap { String(validatingCString: $0) }, kind: kind,
            isEncrypted: archive_entry_is_encrypted(entry) != 0, isSparse: archive_entry_sparse_reset(entry) != 0,
            permissions: hearth_archive_mode(entry) & 0o7777, compression: compression,
            size: archive_entry_size_is_set(entry) != 0 ? UInt64(exactly: archive_entry_size(entry)) : nil)
    }

    /// The compression of a zip entry, if it is neither stored nor deflated; some kinds need unbounded memory.
    private var compression: String? {
        guard archive_format(pointer) & ARCHIVE_FORMAT_BASE_MASK == ARCHIVE_FORMAT_ZIP else { return nil }
        let name = archive_format_name(pointer).map { String(cString: $0) } ?? ""
        return name.hasSuffix("(deflation)") || name.hasSuffix("(uncompressed)") ? nil : name
    }

    /// The next entry, `nil` at the end.
    func nextEntry() throws -> OpaquePointer? {
        var entry: OpaquePointer?
        let status = archive_read_next_header(pointer, &entry)
        if status == ARCHIVE_EOF, feed.failure == nil { return nil }
        try check(status)
        return entry
    }

    /// The next bytes of the current entry and their place in it, `nil` at its end.
    func nextBlock() throws -> (bytes: UnsafeRawBufferPointer, offset: Int64)? {
        var start: UnsafeRawPointer?
        var count = 0
        var offset: Int64 = 0
        let status = archive_read_data_block(pointer, &start, &count, &offset)
        if status == ARCHIVE_EOF, feed.failure == nil { return nil }
        try check(status)
        return (UnsafeRawBufferPointer(start: start, count: count), offset)
    }

    func skipEntry() throws { try check(archive_read_data_skip(pointer)) }

    /// The bytes of the source that libarchive has decoded so far.
    var consumed: UInt64 { UInt64(max(0, archive_filter_bytes(pointer, -1))) }

    /// The compression of the stream, `ARCHIVE_FILTER_NONE` if it has none; `nil` for several layers.
    package var filter: CInt? { archive_filter_count(pointer) <= 2 ? archive_filter_code(pointer, 0) : nil }

    /// Treats warnings as errors: no model needs an archive that libarchive doubts.
    private func check(_ status: CInt) throws {
        if let failure = feed.failure { throw failure }
        guard status != ARCHIVE_OK else { return }
        throw ArchiveFailure(text: archive_error_string(pointer).map { String(cString: $0) } ?? "it is broken")
    }
}

/// Answers libarchive's requests for bytes. Lives as long as the handle it is connected to.
private final class ArchiveFeed {
    private let source: any ByteSource
    /// The first error of the source, which is the one to report.
    fileprivate var failure: (any Error)?
    private var offset: UInt64 = 0

    init(_ source: any ByteSource) { self.source = source }

    func connect(_ pointer: OpaquePointer, isSeekable: Bool) throws {
        archive_read_set_callback_data(pointer, Unmanaged.passUnretained(self).toOpaque())
        archive_read_set_read_callback(pointer, readFeed)
        if isSeekable { archive_read_set_seek_callback(pointer, seekFeed) }
        guard archive_read_open1(pointer) == ARCHIVE_OK else {
            if let failure { throw failure }
            throw ArchiveFailure(text: archive_error_string(pointer).map { String(cString: $0) } ?? "it is broken")
        }
    }

    func read() -> UnsafeRawBufferPointer? {
        guard failure == nil else { return nil }
        do {
            let block = try source.next()
            offset += UInt64(block.count)
            return block
        } catch {
            failure = error
            return nil
        }
    }

    func seek(_ distance: Int64, from whence: CInt) -> Int64 {
        let start: Int64? =
            switch whence {
            case SEEK_SET: 0
            case SEEK_CUR: Int64(exactly: offset)
            case SEEK_END: source.length.flatMap { Int64(exactly: $0) }
            default: nil
            }
        guard let start, case let (sum, isTooMuch) = start.addingReportingOverflow(distance), !isTooMuch, sum >= 0
        else { return Int64(ARCHIVE_FATAL) }
        do {
            guard try source.seek(to: UInt64(sum)) else { return Int64(ARCHIVE_FATAL) }
            offset = UInt64(sum)
            return sum
        } catch {
            failure = error
            return Int64(ARCHIVE_FATAL)
        }
    }
}

/// The callback for libarchive's reads.
private func readFeed(
    _: OpaquePointer?, _ data: UnsafeMutableRawPointer?, _ block: UnsafeMutablePointer<UnsafeRawPointer?>?
) -> Int {
    guard let data, let bytes = Unmanaged<ArchiveFeed>.fromOpaque(data).takeUnretainedValue().read() else {
        return Int(ARCHIVE_FATAL)
    }
    block?.pointee = bytes.baseAddress
    return bytes.count
}

/// The callback for libarchive's seeks.
private func seekFeed(
    _: OpaquePointer?, _ data: UnsafeMutableRawPointer?, _ distance: Int64, _ whence: CInt
) -> Int64 {
    guard let data else { return Int64(ARCHIVE_FATAL) }
    return Unmanaged<ArchiveFeed>.fromOpaque(data).takeUnretainedValue().seek(distance, from: whence)
}

/// The contents of a compressed stream.
final class UnpackedSource: ByteSource {
    private let handle: ArchiveHandle
    private let packedSize: UInt64?
    private var isAtEnd = false
    private let filter: CInt

    /// - Throws: ``ArchiveFailure`` for a stream that is not compressed in this way, or is compressed twice; errors
    ///   of the source.
    init(_ source: any ByteSource, as kind: ArchiveHandle.Kind) throws {
        packedSize = source.length
        filter = if case .gzip = kind { ARCHIVE_FILTER_GZIP } else { ARCHIVE_FILTER_ZSTD }
        handle = try ArchiveHandle(source, as: kind)
        guard try handle.nextEntry() != nil, handle.filter == filter else {
            throw ArchiveFailure(text: "it is not compressed as declared")
        }
    }

    package var length: UInt64? { nil }

    package func next() throws -> UnsafeRawBufferPointer {
        while !isAtEnd {
            guard let block = try handle.nextBlock() else {
                isAtEnd = true
                guard packedSize == nil || handle.consumed == packedSize else {
                    throw ArchiveFailure(text: "other bytes follow it")
                }
                break
            }
            if !block.bytes.isEmpty { return block.bytes }
        }
        return UnsafeRawBufferPointer(start: nil, count: 0)
    }

    func seek(to offset: UInt64) throws -> Bool { false }
}
#endif
