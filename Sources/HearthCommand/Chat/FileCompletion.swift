import Foundation
import HearthBase

/// Finds the files whose path begins with what is typed.
enum FileCompletion {
    private static let most = 200

    /// The paths; folders end with a slash. Blocks.
    static func candidates(_ typed: String) -> [String] {
        let slash = typed.lastIndex(of: "/")
        let folder = slash.map { String(typed[...$0]) } ?? ""
        let beginning = slash.map { String(typed[typed.index(after: $0)...]) } ?? typed
        let path = expandingHome(folder.isEmpty ? "." : folder)
        // A folder that cannot be read completes nothing.
        guard let names = try? FileManager.default.contentsOfDirectory(atPath: path) else { return [] }
        let found = names.filter { $0.hasPrefix(beginning) && (!$0.hasPrefix(".") || beginning.hasPrefix(".")) }
        return found.sorted().prefix(most).map { name in
            var isFolder: ObjCBool = false
            let exists = FileManager.default.fileExists(atPath: "\(path)/\(name)", isDirectory: &isFolder)
            return folder + name + (exists && isFolder.boolValue ? "/" : "")
        }
    }

    /// A path with the home folder in place of `~`.
    static func expandingHome(_ path: String) -> String {
        guard path == "~" || path.hasPrefix("~/") else { return path }
        return NSHomeDirectory() + path.dropFirst()
    }
}
