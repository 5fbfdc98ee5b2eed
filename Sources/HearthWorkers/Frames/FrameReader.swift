import Foundation

/// Divides a stream of bytes into frames: the length of the body in four bytes, little endian, then the body.
///
/// Bytes come from another process that may be hostile. The buffer holds at most one longest frame, and a refused
/// length makes the reader useless for good: the next frame's place is unknown.
struct FrameReader {
    /// The size of the length before each body, in bytes.
    static let headerLength = 4
    /// The free space of one read, in bytes; many small frames arrive together.
    private static let readLength = 1 << 16

    private let maximumLength: Int
    private var buffer = [UInt8](repeating: 0, count: FrameReader.readLength)
    /// The received bytes that belong to no delivered frame.
    private var held = 0..<0
    private var isMalformed = false

    /// Makes a reader at the start of a stream.
    /// - Parameter maximumLength: the longest body, in bytes.
    init(maximumLength: Int) { self.maximumLength = maximumLength }

    /// Takes the next body from the received bytes; `nil` if it has not arrived whole.
    /// - Throws: ``FrameError/malformed`` for a body of no bytes or more than the longest.
    mutating func next() throws(FrameError) -> [UInt8]? {
        guard let length = try length(), held.count >= Self.headerLength + length else { return nil }
        let start = held.lowerBound + Self.headerLength
        held = start + length..<held.upperBound
        return Array(buffer[start..<start + length])
    }

    /// Lets `read` fill the free space and return the number of bytes that it wrote.
    /// - Returns: the number of bytes.
    mutating func fill(_ read: (UnsafeMutableRawBufferPointer) throws(FrameError) -> Int) throws(FrameError) -> Int {
        let pending = Self.headerLength + (try length() ?? 0)
        if held.isEmpty { held = 0..<0 }
        if buffer.count - held.lowerBound < pending || held.upperBound == buffer.count { moveToFront(for: pending) }
        var count = 0
        let free = held.upperBound..<buffer.count
        let failure = buffer.withUnsafeMutableBytes { bytes -> FrameError? in
            do throws(FrameError) {
                count = try read(UnsafeMutableRawBufferPointer(rebasing: bytes[free]))
                return nil
            } catch { return error }
        }
        if let failure { throw failure }
        held = held.lowerBound..<held.upperBound + count
        return count
    }

    /// Ends the stream.
    /// - Throws: ``FrameError/malformed`` within a frame.
    func finish() throws(FrameError) {
        if isMalformed || !held.isEmpty { throw .malformed }
    }

    /// The length of the next body; `nil` if the header has not arrived whole.
    private mutating func length() throws(FrameError) -> Int? {
        if isMalformed { throw .malformed }
        guard held.count >= Self.headerLength else { return nil }
        let length = (0..<Self.headerLength).reduce(0) { $0 | Int(buffer[held.lowerBound + $1]) << (8 * $1) }
        guard length > 0 && length <= maximumLength else {
            isMalformed = true
            throw .malformed
        }
        return length
    }

    /// Makes room for a frame of `length` bytes, and for as much of one read as the buffer has.
    private mutating func moveToFront(for length: Int) {
        if length > buffer.count {
            buffer = buffer[held] + [UInt8](repeating: 0, count: length - held.count)
        } else {
            buffer.withUnsafeMutableBytes { bytes in
                _ = bytes.baseAddress.map { memmove($0, $0 + held.lowerBound, held.count) }
            }
        }
        held = 0..<held.count
    }
}
