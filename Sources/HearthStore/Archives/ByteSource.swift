import HearthBase

/// Bytes in order, one block at a time, for C code that reads them. Used on one thread.
protocol ByteSource: AnyObject {
    /// The next block, empty at the end; valid until the next call.
    func next() throws -> UnsafeRawBufferPointer
    /// Continues at an offset; `false` if that is impossible.
    func seek(to offset: UInt64) throws -> Bool
    var length: UInt64? { get }
}

/// The bytes of a file.
final class FileSource: ByteSource {
    private let file: OpenFile
    private let fileSystem: any FileSystem
    private let flag: StopFlag
    private let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 256 << 10, alignment: 4096)
    package private(set) var offset: UInt64 = 0
    private let size: UInt64

    init(_ file: OpenFile, fileSystem: any FileSystem, flag: StopFlag) throws {
        self.file = file
        self.fileSystem = fileSystem
        self.flag = flag
        size = try fileSystem.status(of: file).size
    }

    deinit { buffer.deallocate() }

    package var length: UInt64? { size }

    package func next() throws -> UnsafeRawBufferPointer {
        try flag.check()
        let count = try fileSystem.read(file, into: buffer, at: offset)
        offset += UInt64(count)
        return UnsafeRawBufferPointer(rebasing: buffer[..<count])
    }

    func seek(to offset: UInt64) throws -> Bool {
        self.offset = offset
        return true
    }
}

/// Checks the end of a stream: after an archive's own end only zeros may follow.
final class TailWatch: ByteSource {
    private let base: any ByteSource
    package private(set) var count: UInt64 = 0
    /// The offset after the last byte that is not zero.
    private(set) var contentEnd: UInt64 = 0

    init(_ base: any ByteSource) { self.base = base }

    package var length: UInt64? { base.length }

    package func next() throws -> UnsafeRawBufferPointer {
        let block = try base.next()
        if let last = block.lastIndex(where: { $0 != 0 }) { contentEnd = count + UInt64(last) + 1 }
        count += UInt64(block.count)
        return block
    }

    func seek(to offset: UInt64) throws -> Bool { false }

    /// Reads to the end.
    func drain() throws { while try !next().isEmpty {} }
}
