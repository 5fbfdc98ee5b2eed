import CZlib

/// A stream that zlib unpacks. Created, used and freed on one thread.
final class Inflater {
    enum Form {
        /// Deflate alone (RFC 1951), as in zip files.
        case raw
        /// With the head and the checksum of gzip (RFC 1952).
        case gzip
    }

    // The stream's state points to the structure, so it must not move.
    private let stream = UnsafeMutablePointer<z_stream>.allocate(capacity: 1)
    private let output = UnsafeMutableRawBufferPointer.allocate(byteCount: 256 << 10, alignment: 4096)
    /// Whether the stream has ended; bytes after its end stay in the input.
    private(set) var hasEnded = false
    /// Whether more can be unpacked of input that was removed already.
    private(set) var mayHaveMore = false

    /// - Throws: ``ArchiveFailure`` if there is not enough memory.
    init(_ form: Form) throws {
        stream.initialize(to: z_stream())
        let bits = form == .raw ? -MAX_WBITS : MAX_WBITS + 16
        guard inflateInit2_(stream, bits, ZLIB_VERSION, Int32(MemoryLayout<z_stream>.size)) == Z_OK else {
            throw ArchiveFailure(text: "no memory is left")
        }
    }

    deinit {
        inflateEnd(stream)
        stream.deallocate()
        output.deallocate()
    }

    /// Begins another stream of the same form.
    func restart() {
        inflateReset(stream)
        (hasEnded, mayHaveMore) = (false, false)
    }

    /// Unpacks the beginning of `input`, and removes it from there.
    /// - Returns: at most 256 KiB, valid until the next call; nothing if more input is needed or the stream has ended.
    /// - Throws: ``ArchiveFailure`` for a broken stream.
    func unpack(_ input: inout UnsafeRawBufferPointer) throws -> UnsafeRawBufferPointer {
        guard !hasEnded, !input.isEmpty || mayHaveMore else { return UnsafeRawBufferPointer(start: nil, count: 0) }
        let part = input.prefix(1 << 30)
        stream.pointee.next_in = UnsafeMutablePointer(
            mutating: UnsafeRawBufferPointer(rebasing: part).bindMemory(to: UInt8.self).baseAddress)
        stream.pointee.avail_in = UInt32(part.count)
        stream.pointee.next_out = output.bindMemory(to: UInt8.self).baseAddress
        stream.pointee.avail_out = UInt32(output.count)
        let status = inflate(stream, Z_NO_FLUSH)
        let used = part.count - Int(stream.pointee.avail_in)
        let count = output.count - Int(stream.pointee.avail_out)
        // Without input, no progress means that more input is needed.
        let isStuck = status == Z_BUF_ERROR && (!part.isEmpty || count > 0)
        guard [Z_OK, Z_STREAM_END, Z_BUF_ERROR].contains(status), !isStuck else {
            throw ArchiveFailure(text: "its compressed bytes are broken")
        }
        hasEnded = status == Z_STREAM_END
        mayHaveMore = !hasEnded && stream.pointee.avail_out == 0
        input = UnsafeRawBufferPointer(rebasing: input[used...])
        return UnsafeRawBufferPointer(rebasing: output[..<count])
    }
}

/// The contents of a gzip stream, or of several one after the other.
final class GzipSource: ByteSource {
    private let base: any ByteSource
    private let inflater: Inflater
    private var input = UnsafeRawBufferPointer(start: nil, count: 0)
    private var isAtEnd = false

    /// - Throws: ``ArchiveFailure`` if there is not enough memory.
    init(_ base: any ByteSource) throws {
        self.base = base
        inflater = try Inflater(.gzip)
    }

    var length: UInt64? { nil }

    func next() throws -> UnsafeRawBufferPointer {
        while !isAtEnd {
            if input.isEmpty, !inflater.mayHaveMore {
                input = try base.next()
                guard !input.isEmpty else {
                    guard inflater.hasEnded else { throw ArchiveFailure.cutOff }
                    isAtEnd = true
                    break
                }
            }
            if inflater.hasEnded {
                guard input.first == 0x1F else { throw ArchiveFailure(text: "other bytes follow it") }
                inflater.restart()
            }
            let block = try inflater.unpack(&input)
            if !block.isEmpty { return block }
        }
        return UnsafeRawBufferPointer(start: nil, count: 0)
    }

    func seek(to offset: UInt64) throws -> Bool { false }
}

/// A checksum of zip files (zlib `crc32`).
struct Checksum {
    private(set) var value: UInt32 = 0

    mutating func update(_ bytes: UnsafeRawBufferPointer) {
        value = UInt32(
            truncatingIfNeeded: crc32_z(uLong(value), bytes.bindMemory(to: UInt8.self).baseAddress, bytes.count))
    }
}

/// Reads exact numbers of bytes from a source.
final class ByteCursor {
    private let source: any ByteSource
    private var block = UnsafeRawBufferPointer(start: nil, count: 0)
    /// The offset in the source of the next byte.
    private(set) var offset: UInt64 = 0

    init(_ source: any ByteSource) { self.source = source }

    /// Continues at another offset of a source that allows it.
    func seek(to offset: UInt64) throws {
        guard try source.seek(to: offset) else { throw ArchiveFailure(text: "it cannot be read in another order") }
        self.offset = offset
        block = UnsafeRawBufferPointer(start: nil, count: 0)
    }

    /// The next bytes, at least one and at most `limit`; empty at the end. Valid until the next call.
    func part(_ limit: UInt64) throws -> UnsafeRawBufferPointer {
        if block.isEmpty { block = try source.next() }
        let part = UnsafeRawBufferPointer(rebasing: block.prefix(Int(clamping: limit)))
        block = UnsafeRawBufferPointer(rebasing: block.dropFirst(part.count))
        offset += UInt64(part.count)
        return part
    }

    /// The next `count` bytes; fewer at the end of the source.
    func bytes(_ count: Int) throws -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(count)
        while bytes.count < count {
            let part = try part(UInt64(count - bytes.count))
            guard !part.isEmpty else { break }
            bytes += part
        }
        return bytes
    }

    /// Passes over bytes.
    /// - Throws: ``ArchiveFailure`` if the source ends before.
    func skip(_ count: UInt64) throws {
        var left = count
        while left > 0 {
            let part = try part(left)
            guard !part.isEmpty else { throw ArchiveFailure.cutOff }
            left -= UInt64(part.count)
        }
    }
}
