import Foundation
import HearthBase

/// The file of this program.
enum ProgramFile {
    /// Its path, for units and processes that start it again.
    static func path() throws -> String {
        #if os(Linux)
        return try LocalFileSystem().readLink(Path("/proc/self/exe"))
        #else
        return Bundle.main.executablePath ?? CommandLine.arguments[0]
        #endif
    }
}
