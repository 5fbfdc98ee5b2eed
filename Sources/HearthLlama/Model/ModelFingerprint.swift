import HearthBase

/// Identifies a file of weights by some of its bytes: its size, its beginning and 64 places in it, about 320 KiB in
/// all. Weights that were trained or quantized differently differ nearly everywhere, so this separates the states
/// of two models. It does not protect against a file made to deceive it.
enum ModelFingerprint {
    static func read(_ path: Path, fileSystem: any FileSystem = LocalFileSystem()) throws -> String {
        let file = try fileSystem.open(path, .read)
        let size = try fileSystem.status(of: file).size
        var hasher = SHA256Hasher()
        withUnsafeBytes(of: size.littleEndian) { hasher.update($0) }
        var buffer = [UInt8](repeating: 0, count: 64 << 10)
        let places = [(UInt64(0), 64 << 10)] + (1...64).map { (size / 65 * UInt64($0), 4 << 10) }
        for (offset, count) in places {
            let read = try buffer.withUnsafeMutableBytes { bytes in
                try fileSystem.read(
                    file, into: UnsafeMutableRawBufferPointer(rebasing: bytes[0..<count]), at: offset)
            }
            buffer.withUnsafeBytes { hasher.update(UnsafeRawBufferPointer(rebasing: $0[0..<read])) }
        }
        return hasher.finalize().description
    }
}
