import Foundation

/// The unit of systemd that rings for due reminders, which a user may set up as docs/assistant.md says.
package enum ReminderTimer {
    /// The unit's name.
    package static let unit = "hearth-reminders.timer"

    /// Tells the user who rings.
    package static func text(environment: [String: String]) -> String {
        isEnabled(environment: environment)
            ? "\(unit) rings on this computer."
            : "Nothing rings on this computer. Devices that sync the reminders ring."
    }

    /// The same while Hearth's server runs, which rings itself.
    package static func served(environment: [String: String]) -> String {
        isEnabled(environment: environment) ? text(environment: environment) : "It rings here while Hearth runs."
    }

    /// Whether the unit starts with the user's session.
    package static func isEnabled(environment: [String: String]) -> Bool {
        let home = environment["HOME"].map { $0 + "/.config" }
        guard let folder = environment["XDG_CONFIG_HOME"].flatMap({ $0.isEmpty ? nil : $0 }) ?? home else {
            return false
        }
        let link = "\(folder)/systemd/user/timers.target.wants/\(unit)"
        // The link may lead to a file that is missing.
        return FileManager.default.fileExists(atPath: link)
    }
}
