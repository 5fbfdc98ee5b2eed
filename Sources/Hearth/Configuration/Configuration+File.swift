import Foundation
import HearthBase

extension Configuration {
    /// The path of a home's configuration.
    public static func path(home: Path) -> Path { home.appending("config.json") }

    /// Reads a home's configuration; empty if the file does not exist. Blocks.
    /// - Throws: ``ConfigurationError``, `FileError`
    public static func load(home: Path) throws -> Configuration {
        let path = path(home: home)
        let data: Data
        do {
            data = try LocalFileSystem().contents(ofFile: path, limit: maximumFileSize)
        } catch let error as FileError where error.code == .notFound {
            return Configuration()
        }
        do {
            return try Configuration(json: data)
        } catch let error as ConfigurationError {
            var context = error.context
            context.file = path.string
            context.remedy = "Correct \(path), or move it away to begin anew."
            throw ConfigurationError(error.code, error.message, context: context, underlying: error.underlying)
        }
    }

    /// Writes a home's configuration, readable by its owner only; creates the home if needed. Blocks.
    /// - Throws: `FileError`
    public func save(home: Path) throws {
        let fileSystem = LocalFileSystem()
        try fileSystem.makeFolders(home)
        try fileSystem.replaceContents(of: Self.path(home: home), with: json(), permissions: 0o600)
    }
}
