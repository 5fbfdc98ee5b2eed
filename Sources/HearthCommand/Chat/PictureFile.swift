import HearthBase
import HearthInference

/// Reads the picture files named on a command line.
enum PictureFile {
    /// Reads pictures in order. Blocks.
    /// - Throws: `LLMError` with `cannot-read-picture` or `picture-too-large`, and the file's name.
    static func read(_ names: [String], fileSystem: any FileSystem = LocalFileSystem()) throws -> [ChatImage] {
        try names.map { name in
            do {
                return try ChatImage(bytes(of: Path(name), fileSystem))
            } catch let error as LLMError {
                var context = error.context
                context.file = name
                throw LLMError(
                    error.code, "\(name.shownOnTerminal): \(error.message)", context: context,
                    disposition: error.disposition, underlying: error)
            }
        }
    }

    private static func bytes(of path: Path, _ fileSystem: any FileSystem) throws -> [UInt8] {
        do {
            guard let status = try fileSystem.status(at: path, followLinks: true) else {
                throw unreadable("there is no such file")
            }
            guard status.kind == .file else { throw unreadable("it is not a file") }
            // One byte beyond the limit is enough to refuse the file.
            let size = min(Int(clamping: status.size), ImageLimits().maximumBytes + 1)
            let file = try fileSystem.open(path, .read)
            var count = 0
            var bytes = [UInt8](repeating: 0, count: size)
            try bytes.withUnsafeMutableBytes { buffer in
                while count < size {
                    let read = try fileSystem.read(
                        file, into: UnsafeMutableRawBufferPointer(rebasing: buffer[count...]), at: UInt64(count))
                    guard read > 0 else { break }
                    count += read
                }
            }
            return Array(bytes.prefix(count))
        } catch let error as FileError {
            throw unreadable(error.message, error)
        }
    }

    private static func unreadable(_ reason: String, _ cause: FileError? = nil) -> LLMError {
        LLMError(
            .cannotReadPicture, "the picture cannot be read: \(reason)",
            context: ErrorContext(remedy: "Check the path."),
            disposition: .usage, underlying: cause)
    }
}
