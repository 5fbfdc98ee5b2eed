import Foundation

/// Files whose text the system generates while they are read, such as those below `/proc`.
///
/// Not `String(contentsOfFile:)`: such a file reports no size and is read in pieces of about a memory page, and that
/// function returns only the first piece.
package enum SystemFile {
    /// The whole text of a file; `nil` if it cannot be read. Blocks.
    package static func contents(_ path: String) -> String? {
        guard let file = FileHandle(forReadingAtPath: path), let text = try? file.readToEnd() ?? Data() else {
            return nil
        }
        return String(decoding: text, as: UTF8.self)
    }
}
