import Foundation
import HearthBase

/// A folder for one test, removed with its last reference.
package final class TemporaryFolder: Sendable {
    package let path: Path

    /// Makes an empty folder.
    package init(_ function: StaticString = #function) throws {
        let name = "hearth-test-\(UInt64.random(in: 0 ... .max))"
        path = Path(FileManager.default.temporaryDirectory.resolvingSymlinksInPath().path + "/" + name)
        try LocalFileSystem().makeFolders(path)
    }

    // A test may have made the folder unreadable; the system clears its temporary folder later.
    deinit { try? LocalFileSystem().removeTree(path) }

    /// A path below the folder; `name` may contain separators.
    package func path(_ name: String) -> Path { Path(path.string + "/" + name) }

    /// Writes a file below the folder, and creates its parent folders.
    @discardableResult
    package func write(_ name: String, _ data: Data) throws -> Path {
        let target = path(name)
        try LocalFileSystem().makeFolders(target.parent)
        try LocalFileSystem().replaceContents(of: target, with: data)
        return target
    }
}
