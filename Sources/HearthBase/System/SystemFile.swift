import Foundation

/// Texts that the system writes as they are read, such as those below `/proc`.
///
/// Not `String(contentsOfFile:)`: such a file has no size, and comes in pieces of about a page of memory; that takes the first one
/// for all of it.
package enum SystemFile {
    /// The whole text of a file; `nil` where it cannot be read, which for these means that the system does not say. Blocks.
    package static func contents(_ path: String) -> String? {
        guard let file = FileHandle(forReadingAtPath: path), let text = try? file.readToEnd() ?? Data() else {
            return nil
        }
        return String(decoding: text, as: UTF8.self)
    }
}
