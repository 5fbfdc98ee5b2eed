import CZlib

/// Measures the unpacked length of a zlib stream, with a fixed amount of memory.
enum InflatedLength {
    /// The most blocks without output: each takes time and adds no pixels.
    private static let maximumEmptyBlocks = 1000

    /// The unpacked length; `nil` for a stream that is broken, cut off, or longer than `limit`.
    static func measure(_ bytes: [UInt8], limit: Int) -> Int? {
        // Deflate without a dictionary (RFC 1950). The checksum at the end is not verified, as in decoders.
        guard bytes.count >= 2, bytes[0] & 15 == 8, bytes[0] >> 4 <= 7, bytes[1] & 32 == 0,
            (Int(bytes[0]) << 8 | Int(bytes[1])) % 31 == 0
        else { return nil }
        // The stream's state points to the structure, so it must not move.
        let stream = UnsafeMutablePointer<z_stream>.allocate(capacity: 1)
        stream.initialize(to: z_stream())
        defer { stream.deallocate() }
        guard inflateInit2_(stream, -MAX_WBITS, ZLIB_VERSION, Int32(MemoryLayout<z_stream>.size)) == Z_OK else {
            return nil
        }
        defer { inflateEnd(stream) }
        return withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 1 << 15) { output in
            bytes[2...].withUnsafeBufferPointer { input in
                stream.pointee.next_in = UnsafeMutablePointer(mutating: input.baseAddress)
                stream.pointee.avail_in = UInt32(input.count)
                var empty = 0
                while empty <= maximumEmptyBlocks {
                    let before = stream.pointee.total_out
                    stream.pointee.next_out = output.baseAddress
                    stream.pointee.avail_out = UInt32(output.count)
                    // `Z_BLOCK` returns at the end of each block.
                    let result = inflate(stream, Z_BLOCK)
                    let count = Int(stream.pointee.total_out)
                    guard result == Z_OK || result == Z_STREAM_END, count <= limit else { return nil }
                    if result == Z_STREAM_END { return count }
                    if stream.pointee.total_out == before { empty += 1 }
                }
                return nil
            }
        }
    }
}
