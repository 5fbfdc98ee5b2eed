import Foundation

/// What the system received for a program that has not read it.
enum UnreadBytes {
    /// The bytes that wait in the sockets of this machine that are connected to a port of it; 0 where the system does not say.
    static func count(ofConnectionsTo port: UInt16) throws -> UInt64 {
        #if os(Linux)
            let table = try String(contentsOfFile: "/proc/net/tcp", encoding: .utf8)
            return table.split(separator: "\n").dropFirst().reduce(0) { $0 + unread(line: $1, port: port) }
        #else
            return 0
        #endif
    }

    /// One connection: its number, its own address, the other one, its state, and what waits to be sent and to be read.
    private static func unread(line: Substring, port: UInt16) -> UInt64 {
        let words = line.split(separator: " ")
        guard words.count > 4, let remote = words[2].split(separator: ":").last, UInt16(remote, radix: 16) == port,
            let queue = words[4].split(separator: ":").last
        else { return 0 }
        return UInt64(queue, radix: 16) ?? 0
    }
}
