/// Finds a text byte by byte (Knuth, Morris and Pratt).
struct Mark: Sendable {
    let bytes: [UInt8]
    /// For each length of the text's beginning, the length of the longest shorter beginning with which it ends.
    private let fallback: [Int]
    /// The number of bytes at the end that may begin the text.
    private(set) var matched = 0

    init(_ text: String) {
        bytes = Array(text.utf8)
        var fallback = [Int](repeating: 0, count: bytes.count)
        var length = 0
        for index in bytes.indices.dropFirst() {
            while length > 0, bytes[index] != bytes[length] { length = fallback[length - 1] }
            if bytes[index] == bytes[length] { length += 1 }
            fallback[index] = length
        }
        self.fallback = fallback
    }

    /// Reads a byte; `true` if it completes the text. Then call ``reset()`` before the next byte.
    mutating func take(_ byte: UInt8) -> Bool {
        guard matched < bytes.count else { return false }
        while matched > 0, byte != bytes[matched] { matched = fallback[matched - 1] }
        if byte == bytes[matched] { matched += 1 }
        return matched == bytes.count
    }

    mutating func reset() { matched = 0 }
}
