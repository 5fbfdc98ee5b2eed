import Foundation

#if canImport(os)
import os
#endif

extension Log {
    /// Writes each entry as one line on standard error: `hearth[store] info: a file is copied path=/models/m.gguf`.
    public static let standardError: Handler = { entry in
        let bytes = Array((line(entry) + "\n").utf8)
        // Each line is written with one call. A closed or full standard error is ignored.
        bytes.withUnsafeBytes { bytes in _ = Foundation.write(STDERR_FILENO, bytes.baseAddress, bytes.count) }
    }

    #if canImport(os)
    /// Writes each entry to Apple's unified log, under the subsystem `hearth.store`, `hearth.transfer` and so on.
    ///
    /// - Parameter showsPrivateValues: whether messages, paths and error descriptions are readable in logs that
    ///   leave the device.
    public static func unifiedLog(showsPrivateValues: Bool = false) -> Handler {
        { entry in
            let logger = Logger(subsystem: "hearth.\(entry.subsystem)", category: entry.category ?? entry.subsystem)
            let type: OSLogType =
                switch entry.level {
                case .debug: .debug
                case .info: .info
                case .warning: .default
                case .error: .error
                }
            let open = entry.fields.filter { showsPrivateValues || !$0.isPrivate }.map(\.description)
            let closed = entry.fields.filter { !showsPrivateValues && $0.isPrivate }.map(\.description)
            let (facts, secrets) = (open.joined(separator: " "), closed.joined(separator: " "))
            if showsPrivateValues {
                logger.log(level: type, "\(entry.message, privacy: .public) \(facts, privacy: .public)")
            } else {
                logger.log(
                    level: type,
                    "\(entry.message, privacy: .private) \(facts, privacy: .public) \(secrets, privacy: .private)")
            }
        }
    }
    #endif

    /// The line of an entry on standard error.
    static func line(_ entry: Entry) -> String {
        let fields = entry.fields.map { " \($0)" }.joined()
        return singleLine("hearth[\(entry.name)] \(entry.level.rawValue): \(entry.message)\(fields)")
    }

    /// The text with every control character written as an escape, so that a name from outside can neither begin a new
    /// line nor send commands to the terminal.
    static func singleLine(_ text: String) -> String {
        var line = ""
        for scalar in text.unicodeScalars {
            switch scalar.properties.generalCategory {
            case .control, .lineSeparator, .paragraphSeparator: line += scalar.escaped(asASCII: true)
            default: line.unicodeScalars.append(scalar)
            }
        }
        return line
    }
}
