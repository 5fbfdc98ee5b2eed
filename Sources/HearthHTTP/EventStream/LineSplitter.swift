import Foundation
import HearthBase

/// Splits bytes into lines that end with LF, CR or CR LF, in chunks of any size.
///
/// Searches each byte at most twice, once for each line break; a line within one chunk is not copied.
struct LineSplitter: Sendable {
    private static let lineFeed = UInt8(ascii: "\n")
    private static let carriageReturn = UInt8(ascii: "\r")

    /// The beginning of a line whose break has not arrived.
    private var held: [UInt8] = []
    private var endedWithCarriageReturn = false

    /// Takes more bytes and calls `onLine` for each line that they complete, without its line break.
    /// - Throws: ``HTTPError`` with `response-too-large` for a line of more than `limit` bytes; what `onLine` throws.
    mutating func append(
        _ bytes: UnsafeBufferPointer<UInt8>, limit: Int, onLine: (UnsafeBufferPointer<UInt8>) throws -> Void
    ) throws {
        var start = 0
        // CR LF is one line break, even if split between two chunks.
        if endedWithCarriageReturn, bytes.first == Self.lineFeed { start = 1 }
        if !bytes.isEmpty { endedWithCarriageReturn = false }
        var nextLineFeed = start - 1
        var nextCarriageReturn = start - 1
        while start < bytes.count {
            if nextLineFeed < start { nextLineFeed = Self.index(of: Self.lineFeed, in: bytes, from: start) }
            if nextCarriageReturn < start {
                nextCarriageReturn = Self.index(of: Self.carriageReturn, in: bytes, from: start)
            }
            let end = min(nextLineFeed, nextCarriageReturn)
            guard held.count + end - start <= limit else { throw HTTPError.tooLarge(limit: UInt64(limit)) }
            let line = UnsafeBufferPointer(rebasing: bytes[start..<end])
            guard end < bytes.count else {
                held.append(contentsOf: line)
                return
            }
            if held.isEmpty {
                try onLine(line)
            } else {
                held.append(contentsOf: line)
                try held.withUnsafeBufferPointer(onLine)
                held.removeAll(keepingCapacity: held.count < 64 << 10)
            }
            start = end + 1
            guard bytes[end] == Self.carriageReturn else { continue }
            if start == bytes.count {
                endedWithCarriageReturn = true
            } else if bytes[start] == Self.lineFeed {
                start += 1
            }
        }
    }

    /// The index of the next `byte`, the number of bytes if none follows.
    private static func index(of byte: UInt8, in bytes: UnsafeBufferPointer<UInt8>, from start: Int) -> Int {
        guard let base = bytes.baseAddress, start < bytes.count,
            let found = memchr(base + start, Int32(byte), bytes.count - start)
        else { return bytes.count }
        return base.distance(to: found.assumingMemoryBound(to: UInt8.self))
    }
}
