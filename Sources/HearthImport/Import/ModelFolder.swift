import Foundation
import HearthBase

/// The files of a model's folder, opened without following links.
struct ModelFolder {
    let path: Path
    let fileSystem: any FileSystem
    /// The names of the files directly in the folder.
    let names: Set<String>

    /// Lists a folder. Blocks.
    /// - Parameter files: the names that belong to the model; `nil` for all in the folder.
    init(_ path: Path, files: [String]?, _ fileSystem: any FileSystem) throws {
        self.path = path
        self.fileSystem = fileSystem
        let present = Set(try fileSystem.contents(of: path))
        names = files.map { present.intersection($0) } ?? present
    }

    /// Opens a file of the folder for reading.
    /// - Throws: ``ImportError`` with `missing-file`, or with `linked-file` for a link or anything but a regular file.
    func open(_ name: String) throws -> OpenFile {
        guard names.contains(name), let component = PathComponent(name) else {
            throw ImportError(
                .missingFile, "\(name) is missing: the model needs it",
                context: ErrorContext(file: name, remedy: "Fetch the whole folder."))
        }
        let place = path.appending(component)
        let status = try fileSystem.status(at: place, followLinks: false)
        guard status?.kind == .file else { throw linked(name) }
        let file = try fileSystem.open(place, .read)
        // The name can have become a link between the two calls.
        guard try fileSystem.status(of: file).identity == status?.identity else { throw linked(name) }
        return file
    }

    /// Reads a whole file; `nil` if it does not exist.
    func contents(_ name: String, limit: Int) throws -> Data? {
        guard names.contains(name) else { return nil }
        let file = try open(name)
        let size = try fileSystem.status(of: file).size
        guard size <= limit else {
            throw ImportError.damaged(
                "it is larger than such a file may be", file: name, expected: "at most \(limit) bytes",
                found: "\(size) bytes")
        }
        return try read(file, count: Int(size))
    }

    /// Reads the header of a file of weights.
    func header(_ name: String, of file: OpenFile) throws -> SafetensorsHeader {
        let size = try fileSystem.status(of: file).size
        let count = try SafetensorsHeader.byteCount(of: read(file, count: Int(min(size, 8))), name: name)
        return try SafetensorsHeader(
            parsing: read(file, count: Int(min(size, count))), name: name, size: size)
    }

    private func read(_ file: OpenFile, count: Int) throws -> Data {
        var data = Data(count: count)
        let found = try data.withUnsafeMutableBytes { try fileSystem.read(file, into: $0, at: 0) }
        return data.prefix(found)
    }

    private func linked(_ name: String) -> ImportError {
        ImportError(
            .linkedFile, "\(name) is no regular file",
            context: ErrorContext(
                file: name, expected: "a file", remedy: "Put the file itself into the folder, in place of a link."))
    }
}
