import Foundation
import Hearth
import HearthBase

/// The program that listens on a port of this machine, as far as this user may see it. Only Linux tells.
package struct PortHolder: Sendable, Hashable {
    /// The number of its process; `nil` for a process of another user.
    package var process: Int?
    /// The name of its program; empty for a process of another user.
    package var name = ""
    /// The user that it runs as.
    package var user: UInt32
    /// The home folder that a process of Hearth serves.
    package var home: Path?

    /// The longest read of a table or a process's environment.
    private static let limit = 4 << 20

    /// Finds the program that listens on a port; `nil` if none does, or the system does not tell. Blocks.
    /// - Parameter proc: the folder of the system's processes.
    package static func find(port: UInt16, in proc: Path = Path("/proc")) -> PortHolder? {
        let sockets = ["tcp", "tcp6"].flatMap { name in
            text(proc.joined("net/\(name)")).split(separator: "\n").compactMap { ListeningRow($0, port: port) }
        }
        guard let first = sockets.first else { return nil }
        let names = Set(sockets.map { "socket:[\($0.node)]" })
        for number in numbers(in: proc) where holds(names, proc.joined("\(number)/fd")) {
            var holder = PortHolder(process: number, user: first.user)
            holder.name = text(proc.joined("\(number)/comm")).trimmingCharacters(in: .whitespacesAndNewlines)
            if holder.name == "hearth", words(of: proc.joined("\(number)/cmdline")).dropFirst().contains("serve") {
                holder.home = home(of: proc.joined("\(number)/environ"))
            }
            return holder
        }
        return PortHolder(user: first.user)
    }

    /// The program in words, such as `ollama (process 812)`.
    package var words: String {
        let shown = String(name.unicodeScalars.filter { $0.value >= 0x20 && $0.value != 0x7F })
        guard let process else { return "a program of the user \(Self.name(of: user))" }
        let place = home.map { ", home \($0)" } ?? ""
        return "\(shown.isEmpty ? "a program" : shown) (process \(process)\(place))"
    }

    // MARK: Files of the system

    /// A process may end while it is looked at, and those of other users are closed: such files are empty.
    private static func text(_ path: Path) -> String {
        guard let file = fopen(path.string, "r") else { return "" }
        defer { fclose(file) }
        // The files of the system have no size.
        var bytes: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 64 << 10)
        while bytes.count < limit {
            let count = fread(&piece, 1, piece.count, file)
            guard count > 0 else { break }
            bytes += piece[..<count]
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    private static func numbers(in proc: Path) -> [Int] {
        ((try? LocalFileSystem().contents(of: proc)) ?? []).compactMap { Int($0) }.sorted()
    }

    private static func holds(_ sockets: Set<String>, _ folder: Path) -> Bool {
        let files = LocalFileSystem()
        // Descriptors of other users cannot be listed.
        let names = (try? files.contents(of: folder)) ?? []
        return names.contains { (try? files.readLink(folder.joined($0))).map(sockets.contains) ?? false }
    }

    private static func words(of file: Path) -> [Substring] { text(file).split(separator: "\0") }

    private static func home(of file: Path) -> Path? {
        var environment: [String: String] = [:]
        for entry in words(of: file) {
            let parts = entry.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            if parts.count == 2 { environment[String(parts[0])] = String(parts[1]) }
        }
        // A relative path is that of another folder.
        guard !environment.isEmpty, environment["HEARTH_HOME"].map({ $0.hasPrefix("/") || $0.isEmpty }) ?? true else {
            return nil
        }
        return try? HearthHome.path(environment: environment)
    }

    private static func name(of user: UInt32) -> String {
        guard let entry = getpwuid(user) else { return "\(user)" }
        return String(cString: entry.pointee.pw_name)
    }
}

/// A row of the table of listening sockets.
private struct ListeningRow {
    /// The number by which descriptors name the socket.
    let node: String
    let user: UInt32

    /// - Returns: `nil` for a row of another port, or of a socket that does not listen.
    init?(_ line: Substring, port: UInt16) {
        // sl local_address rem_address st tx:rx tr:when retrnsmt uid timeout inode
        let fields = line.split(separator: " ")
        guard fields.count > 9, fields[3] == "0A", let address = fields[1].split(separator: ":").last,
            UInt16(address, radix: 16) == port, let user = UInt32(fields[7]), UInt64(fields[9]) != nil
        else { return nil }
        (node, self.user) = (String(fields[9]), user)
    }
}
