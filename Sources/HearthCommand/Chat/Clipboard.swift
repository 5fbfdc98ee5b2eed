import Foundation
import HearthBase

/// Copies text: with a program of the desktop, or through the terminal (OSC 52).
enum Clipboard {
    /// The most bytes that terminals take.
    private static let largest = 74_000

    /// Copies a text.
    /// - Returns: whether it could be given to a program or the terminal.
    static func copy(_ text: String, environment: [String: String], console: Console) async -> Bool {
        for command in commands(environment) {
            let data = Data(text.utf8)
            // A program that is missing is not the last resort.
            if (try? await blocking({ try run(command, data) })) == true { return true }
        }
        guard console.output.isTerminal, text.utf8.count <= largest else { return false }
        let encoded = Data(text.utf8).base64EncodedString()
        // The result tells whether it was written.
        return (try? console.write("\u{1B}]52;c;\(encoded)\u{7}")) != nil
    }

    private static func commands(_ environment: [String: String]) -> [[String]] {
        // The first program is that of Apple platforms; a missing program is skipped.
        [["pbcopy"]] + (environment["WAYLAND_DISPLAY"] != nil ? [["wl-copy"]] : [])
            + (environment["DISPLAY"] != nil ? [["xclip", "-selection", "clipboard"], ["xsel", "-ib"]] : [])
    }

    private static func run(_ command: [String], _ data: Data) throws -> Bool {
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = command
        let input = Pipe()
        process.standardInput = input
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        try process.run()
        try input.fileHandleForWriting.write(contentsOf: data)
        try input.fileHandleForWriting.close()
        process.waitUntilExit()
        return process.terminationStatus == 0
    }
}
