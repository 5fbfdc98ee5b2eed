/// Reads a header from front to back through a window, checking every length before it is used.
struct GGUFCursor {
    /// Reads bytes into the buffer from an offset; fewer bytes only at the end.
    typealias Source = (_ buffer: UnsafeMutableRawBufferPointer, _ offset: UInt64) throws -> Int

    private let source: Source
    private let size: UInt64
    private let limit: UInt64
    private var window: [UInt8] = []
    private var windowStart: UInt64 = 0
    private(set) var position: UInt64 = 0
    /// The file's name in messages.
    let name: String

    /// Makes a cursor at the beginning.
    /// - Parameters:
    ///   - size: the bytes of the file.
    ///   - limit: the most bytes of a header.
    init(name: String, size: UInt64, limit: UInt64, source: @escaping Source) {
        self.name = name
        self.size = size
        self.limit = limit
        self.source = source
    }

    // MARK: - Lengths

    /// Checks that `count` more bytes exist within the largest header.
    func require(_ count: UInt64) throws {
        let (end, overflows) = position.addingReportingOverflow(count)
        guard !overflows, end <= size else {
            throw error(
                .truncated, "the header of \(name) goes on past its end", expected: "at least \(describe(count)) more",
                found: "\(size - position) after byte \(position)",
                remedy: "The file is incomplete or damaged; fetch it again.")
        }
        guard end <= limit else {
            throw error(
                .headerTooLarge, "the header of \(name) is larger than a model's can be",
                expected: "at most \(limit) bytes", found: "at least \(end) bytes")
        }
    }

    /// Checks that `count` elements of at least `each` bytes can exist.
    func require(_ count: UInt64, each: Int) throws {
        let (bytes, overflows) = count.multipliedReportingOverflow(by: UInt64(each))
        try require(overflows ? .max : bytes)
    }

    mutating func skip(_ count: UInt64) throws {
        try require(count)
        position += count
    }

    /// Skips strings, each of which follows its length: a vocabulary has some hundred thousand.
    mutating func skipStrings(_ count: UInt64) throws {
        var left = count
        while left > 0 {
            try fill(MemoryLayout<UInt64>.size)
            // The strings that end within the window.
            let start = Int(position - windowStart)
            let (reached, rest) = window.withUnsafeBytes { bytes in
                var (offset, rest) = (start, left)
                while rest > 0, offset + 8 <= bytes.count {
                    let length = UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
                    guard length <= bytes.count - offset - 8 else { break }
                    offset += 8 + Int(length)
                    rest -= 1
                }
                return (offset, rest)
            }
            position = windowStart + UInt64(reached)
            left = rest
            guard left > 0 else { return }
            try skip(try readInteger(UInt64.self))
            left -= 1
        }
    }

    // MARK: - Values

    mutating func readInteger<Value: FixedWidthInteger>(_ type: Value.Type = Value.self) throws -> Value {
        let count = MemoryLayout<Value>.size
        try fill(count)
        let start = Int(position - windowStart)
        position += UInt64(count)
        return window.withUnsafeBytes { Value(littleEndian: $0.loadUnaligned(fromByteOffset: start, as: Value.self)) }
    }

    /// The next bytes as text; invalid UTF-8 becomes U+FFFD. The caller has checked that `count` is small.
    mutating func readText(_ count: Int) throws -> String {
        try fill(count)
        let start = Int(position - windowStart)
        position += UInt64(count)
        return String(decoding: window[start..<start + count], as: UTF8.self)
    }

    /// The first bytes of the file, at most `count`.
    func beginning(_ count: Int) throws -> [UInt8] {
        let wanted = Int(min(UInt64(count), size))
        return try [UInt8](unsafeUninitializedCapacity: wanted) { buffer, initialized in
            let bytes = UnsafeMutableRawBufferPointer(rebasing: UnsafeMutableRawBufferPointer(buffer)[..<wanted])
            initialized = wanted == 0 ? 0 : try source(bytes, 0)
        }
    }

    /// Makes the window cover the next `count` bytes.
    private mutating func fill(_ count: Int) throws {
        try require(UInt64(count))
        let windowEnd = windowStart + UInt64(window.count)
        if position >= windowStart, position + UInt64(count) <= windowEnd { return }
        let wanted = min(UInt64(max(count, Self.windowBytes)), min(size, limit) - position)
        let offset = position
        let source = source
        window = try [UInt8](unsafeUninitializedCapacity: Int(wanted)) { buffer, initialized in
            let bytes = UnsafeMutableRawBufferPointer(rebasing: UnsafeMutableRawBufferPointer(buffer)[..<Int(wanted)])
            initialized = try source(bytes, offset)
        }
        windowStart = offset
        guard window.count >= count else {
            throw error(
                .truncated, "\(name) became shorter while it was read", expected: "\(size) bytes",
                found: "\(offset + UInt64(window.count)) bytes")
        }
    }

    // MARK: - Errors

    func corrupt(_ what: String, field: String? = nil, expected: String? = nil, found: String? = nil) -> GGUFError {
        error(
            .corrupt, "the header of \(name) is damaged: \(what)", field: field, expected: expected, found: found,
            remedy: "Fetch the file again.")
    }

    func error(
        _ code: ErrorCode<GGUFErrorDomain>, _ message: String, field: String? = nil, expected: String? = nil,
        found: String? = nil, remedy: String? = nil
    ) -> GGUFError {
        GGUFError(
            code, message,
            context: ErrorContext(file: name, field: field, expected: expected, found: found, remedy: remedy))
    }

    private func describe(_ count: UInt64) -> String { count == .max ? "2^64 bytes" : "\(count) bytes" }

    private static let windowBytes = 1 << 18
}
