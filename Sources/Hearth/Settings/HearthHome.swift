import Foundation
import HearthBase

/// The folder in which a device stores its models.
package enum HearthHome {
    /// `HEARTH_HOME`, else `XDG_DATA_HOME/hearth`, else `~/.local/share/hearth` (Apple: Application Support/Hearth).
    /// - Throws: ``ConfigurationError`` with `no-home` if the environment names no folder.
    package static func path(environment: [String: String] = ProcessInfo.processInfo.environment) throws -> Path {
        if let home = environment["HEARTH_HOME"], !home.isEmpty { return Path(home).absolute }
        #if os(Linux)
        // The XDG Base Directory Specification says to ignore relative paths.
        if let data = environment["XDG_DATA_HOME"], data.hasPrefix("/") { return Path(data).appending("hearth") }
        let user = environment["HOME"] ?? NSHomeDirectory()
        guard user.hasPrefix("/") else { throw ConfigurationError.noHome }
        return Path(user + "/.local/share/hearth").absolute
        #else
        guard
            let folder = FileManager.default.urls(for: .applicationSupportDirectory, in: .userDomainMask).first
        else {
            throw ConfigurationError.noHome
        }
        return Path(folder.path + "/Hearth")
        #endif
    }
}
