import Foundation
import HearthBase

/// What an artefact looks like without a look at its bytes: enough to see that it cannot be the one that was made.
enum PreparedShape: Sendable, Hashable {
    case file(size: UInt64, modified: Date)
    case folder(PreparedTree)

    /// What stands at a path, `nil` where it is not what is made there. Follows no link. Blocks.
    init?(of path: Path, _ product: PreparationRecipe.Product, fileSystem: any FileSystem) throws {
        guard let status = try fileSystem.status(at: path, followLinks: false) else { return nil }
        switch (product, status.kind) {
        case (.file, .file): self = .file(size: status.size, modified: status.modified)
        case (.folder, .folder): self = .folder(try PreparedTree(below: path, fileSystem: fileSystem))
        default: return nil
        }
    }

    /// The bytes of all of it.
    var size: UInt64 {
        switch self {
        case .file(let size, _): size
        case .folder(let tree): tree.files.map(\.size).saturatedSum
        }
    }

    /// What speaks against keeping it, for people; `nil` if nothing does.
    var objection: String? {
        if case .folder(let tree) = self, let stray = tree.strays.first {
            return "it holds \(stray), and may hold only files and folders whose names are safe"
        }
        return size == 0 ? "it is empty" : nil
    }

    /// Whether it has the kind, names and lengths that were recorded.
    func matches(_ recorded: Self) -> Bool {
        switch (self, recorded) {
        case (.file(let size, _), .file(let recordedSize, _)): size == recordedSize
        case (.folder(let tree), .folder(let recordedTree)): tree.matches(recordedTree)
        default: false
        }
    }

    /// Whether nothing in it was written since, as far as dates tell. For one that ``matches(_:)``.
    func isUntouched(since recorded: Self) -> Bool {
        func isSame(_ date: Date, _ other: Date) -> Bool { abs(date.timeIntervalSince(other)) <= 0.001 }
        return switch (self, recorded) {
        case (.file(_, let date), .file(_, let other)): isSame(date, other)
        case (.folder(let tree), .folder(let other)):
            zip(tree.files, other.files).allSatisfy { isSame($0.modified, $1.modified) }
        default: false
        }
    }

    /// Brings all of it to the disk, but for its own name in the folder it lies in. Blocks.
    func synchronize(at path: Path, with pump: FilePump) throws {
        switch self {
        case .file: try pump.fileSystem.synchronize(try pump.fileSystem.open(path, .read))
        case .folder(let tree): try tree.synchronize(at: path, with: pump)
        }
    }

    /// What it hashes to; `onPiece` hears how many bytes came each time. Blocks.
    func digest(
        of path: Path, with pump: FilePump, onPiece: (UInt64) -> Void = { _ in }
    ) throws -> SHA256Digest {
        switch self {
        case .file: try pump.digest(of: path, onPiece: onPiece)
        case .folder(let tree): try tree.digest(of: path, with: pump, onPiece: onPiece)
        }
    }
}
