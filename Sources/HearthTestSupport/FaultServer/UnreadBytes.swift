import Foundation

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

extension FaultServer {
    /// What it has seen so far, and how many of the bytes it sent on each open connection no program has read: they wait in the
    /// sockets of either end. Of a client that reads meanwhile they are too few, never too many.
    public func recordAndUnread() throws -> (record: ServerRecord, unread: [Int: UInt64]) {
        let received = try Self.received(from: port)
        return listener.recorder.update { record in
            (record, record.sockets.mapValues { Self.unsent($0) + (Self.peerPort($0).flatMap { received[$0] } ?? 0) })
        }
    }

    private static func peerPort(_ socket: Int32) -> UInt16? {
        var address = sockaddr_in()
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isKnown = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { getpeername(socket, $0, &length) == 0 }
        }
        return isKnown ? UInt16(bigEndian: address.sin_port) : nil
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

    /// The bytes that wait to be read in each socket of this machine that is connected to `port`, by its own port; nothing where
    /// the system does not say.
    private static func received(from port: UInt16) throws -> [UInt16: UInt64] {
        #if os(Linux)
            let table = try String(contentsOfFile: "/proc/net/tcp", encoding: .utf8)
            return table.split(separator: "\n").dropFirst().reduce(into: [:]) { sockets, line in
                // Its number, its own address, the other one, its state, and what waits to be sent and to be read.
                let words = line.split(separator: " ")
                guard words.count > 4 else { return }
                let numbers = [words[1], words[2], words[4]].compactMap { word in
                    word.split(separator: ":").last.flatMap { UInt64($0, radix: 16) }
                }
                guard numbers.count == 3, numbers[1] == port else { return }
                sockets[UInt16(truncatingIfNeeded: numbers[0])] = numbers[2]
            }
        #else
            return [:]
        #endif
    }
}
