import HearthBase
import HearthInference

/// Reads the picture files named on a command line.
enum PictureFile {
    /// Reads pictures in order. Blocks.
    /// - Throws: `LLMError` with `cannot-read-picture` or `picture-too-large`, and the file's name.
    static func read(_ names: [String]) throws -> [ChatImage] {
        try names.map { name in
            try naming(name) { try ChatImage(bytes(of: name, limit: ImageLimits().maximumBytes)) }
        }
    }

    /// Reads the file of a picture. Blocks.
    /// - Throws: `LLMError` with `cannot-read-picture` or `picture-too-large`.
    static func bytes(of name: String, limit: Int) throws -> [UInt8] {
        let (path, fileSystem) = (Path(name), LocalFileSystem())
        do {
            guard let status = try fileSystem.status(at: path) else { throw unreadable("there is no such file") }
            guard status.kind == .file else { throw unreadable("it is not a file") }
            guard status.size <= UInt64(limit) else {
                throw LLMError(
                    .pictureTooLarge, "the picture is too large: its file has \(ByteCount(status.size))",
                    context: ErrorContext(expected: "at most \(limit >> 20) MiB", remedy: "Make it smaller first."))
            }
            return [UInt8](try fileSystem.contents(ofFile: path, limit: limit))
        } catch let error as FileError {
            throw unreadable(error.message, error)
        }
    }

    private static func unreadable(_ reason: String, _ cause: FileError? = nil) -> LLMError {
        LLMError(
            .cannotReadPicture, "the picture cannot be read: \(reason)",
            context: ErrorContext(remedy: "Check the path."), underlying: cause)
    }

    /// Puts the file's name before the message of a picture's error. A file that is no good is a failure, not wrong usage.
    static func naming<Result>(_ file: String, _ body: () async throws -> Result) async throws -> Result {
        do {
            return try await body()
        } catch let error as LLMError {
            throw named(file, error)
        }
    }

    /// The same for a body that blocks.
    static func naming<Result>(_ file: String, _ body: () throws -> Result) throws -> Result {
        do {
            return try body()
        } catch let error as LLMError {
            throw named(file, error)
        }
    }

    private static func named(_ file: String, _ error: LLMError) -> LLMError {
        guard error.context.file == nil else { return error }
        var context = error.context
        context.file = file
        return LLMError(
            error.code, "\(file.shownOnTerminal): \(error.message)", context: context,
            disposition: error.disposition == .usage ? .failed : error.disposition, underlying: error)
    }
}
