import Foundation

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

extension FaultServer {
    /// What it has seen so far, and how many of the bytes it sent no program has read: they wait in the sockets of either end.
    /// Of a client that reads meanwhile they are too few, never too many.
    public func recordAndUnread() throws -> (record: ServerRecord, unread: UInt64) {
        let received = try Self.received(from: port)
        let (record, unsent) = listener.recorder.update { record in
            (record, record.sockets.reduce(0) { $0 + Self.unsent($1) })
        }
        return (record, received + unsent)
    }

    /// The bytes a socket was given and has not sent.
    private static func unsent(_ socket: Int32) -> UInt64 {
        var count: Int32 = 0
        #if canImport(Darwin)
            var length = socklen_t(MemoryLayout<Int32>.size)
            return getsockopt(socket, SOL_SOCKET, SO_NWRITE, &count, &length) == 0 ? UInt64(max(0, count)) : 0
        #else
            let unsentBytes: UInt = 0x894B  // SIOCOUTQNSD
            return ioctl(socket, unsentBytes, &count) == 0 ? UInt64(max(0, count)) : 0
        #endif
    }

    /// The bytes that wait to be read in the sockets of this machine that are connected to `port`; 0 where the system does not
    /// say.
    private static func received(from port: UInt16) throws -> UInt64 {
        #if os(Linux)
            let table = try String(contentsOfFile: "/proc/net/tcp", encoding: .utf8)
            return table.split(separator: "\n").dropFirst().reduce(0) { $0 + received(line: $1, from: port) }
        #else
            return 0
        #endif
    }

    /// One connection: its number, its own address, the other one, its state, and what waits to be sent and to be read.
    private static func received(line: Substring, from port: UInt16) -> UInt64 {
        let words = line.split(separator: " ")
        guard words.count > 4, let remote = words[2].split(separator: ":").last, UInt16(remote, radix: 16) == port,
            let queue = words[4].split(separator: ":").last
        else { return 0 }
        return UInt64(queue, radix: 16) ?? 0
    }
}
