import Foundation

/// The command line; the target `hearth` only starts it.
package enum HearthCommand {
    /// The version of this program and its library.
    package static let version = "0.1.0"

    /// Ends the process without C++ destructors, which could disturb a running engine. Flushes C streams first.
    package static func end(_ status: Int32) -> Never {
        fflush(nil)
        _exit(status)
    }
}
