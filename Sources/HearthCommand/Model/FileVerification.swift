import Foundation
import Hearth
import HearthBase

/// What `verify` prints of a user's file with `--format json`.
private struct FileEvent: Encodable {
    let path: String
    let sizeBytes: UInt64
    let sha256: String
}

extension Verify {
    /// Hashes a user's file and reads its header.
    /// - Throws: `FileError`, `GGUFError`.
    func verify(file path: Path, on console: Console) async throws {
        let (digest, size) = try await blocking {
            let fileSystem = LocalFileSystem()
            let file = try fileSystem.open(path, .read)
            return (try fileSystem.digest(ofFile: path), try fileSystem.status(of: file).size)
        }
        switch format {
        case .text: try console.print("\(digest)  \(path)")
        case .json:
            try console.emit("file", FileEvent(path: path.string, sizeBytes: size, sha256: digest.description))
        }
        let header = try await blocking { try GGUFHeader(file: path) }
        if let minimum = header.tensors?.minimumFileSize, size < minimum {
            throw GGUFError(
                .truncated, "\(path.lastComponent) is cut off: its tensors need \(minimum) bytes, it has \(size)",
                context: ErrorContext(
                    file: path.string, expected: "\(minimum) bytes", found: "\(size) bytes",
                    remedy: "Download the model again."))
        }
        try header.checkEnd(ofFile: size, name: path.lastComponent)
        console.say("\(path.lastComponent): \(ModelFacts(header: header, size: size).sentence)")
    }
}
