import Foundation
import HearthBase

#if canImport(Darwin)
import Darwin
#else
import Glibc
#endif

extension FaultServer {
    /// The record so far, and for each open connection the number of sent bytes that no program has read. Such bytes
    /// wait in the sockets of either end, or were lost between them and will be sent again. The number is never too
    /// large; for a client that does not read, it is too small by at most ``slack``. A connection that the other end
    /// has closed is left out, even if this end has not noticed it: its number of unread bytes is unknown.
    package func recordAndUnread() -> (record: ServerRecord, unread: [Int: UInt64]) {
        let waitingThere = Self.received(from: port)
        return listener.recorder.update { record in
            let unread = record.sockets.compactMapValues { socket -> UInt64? in
                var received: UInt64 = 0
                if let waitingThere {
                    guard let waiting = Self.peerPort(socket).flatMap({ waitingThere[$0] }) else { return nil }
                    received = waiting
                }
                let (unsent, unconfirmed) = Self.waiting(socket)
                let sentInVain = unconfirmed > Self.slack ? unconfirmed - Self.slack : 0
                return max(unsent, sentInVain) + received
            }
            return (record, unread)
        }
    }

    /// The most bytes that a system may have received without confirming them: it delays the confirmation of every
    /// second segment.
    private static let slack: UInt64 = 2 * (64 << 10)

    private static func peerPort(_ socket: Int32) -> UInt16? {
        var address = sockaddr_in()
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isKnown = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { getpeername(socket, $0, &length) == 0 }
        }
        return isKnown ? UInt16(bigEndian: address.sin_port) : nil
    }

    /// The bytes that a socket has not sent, and those that the other end has not confirmed.
    private static func waiting(_ socket: Int32) -> (unsent: UInt64, unconfirmed: UInt64) {
        var unconfirmed: Int32 = 0
        #if canImport(Darwin)
        var length = socklen_t(MemoryLayout<Int32>.size)
        guard getsockopt(socket, SOL_SOCKET, SO_NWRITE, &unconfirmed, &length) == 0 else { return (0, 0) }
        return (0, UInt64(max(0, unconfirmed)))
        #else
        var unsent: Int32 = 0
        let (unsentBytes, unconfirmedBytes): (UInt, UInt) = (0x894B, 0x5411)  // SIOCOUTQNSD, SIOCOUTQ
        guard ioctl(socket, unsentBytes, &unsent) == 0, ioctl(socket, unconfirmedBytes, &unconfirmed) == 0 else {
            return (0, 0)
        }
        return (UInt64(max(0, unsent)), UInt64(max(0, unconfirmed)))
        #endif
    }

    /// The unread bytes in each socket of this machine that is connected to `port`, by its own port; `nil` if the
    /// system does not report them.
    private static func received(from port: UInt16) -> [UInt16: UInt64]? {
        #if os(Linux)
        return SystemFile.contents("/proc/net/tcp")?.split(separator: "\n").dropFirst().reduce(into: [:]) {
            sockets, line in
            // The fields are a number, the own address, the other address, the state, and the bytes to send and to
            // read.
            let words = line.split(separator: " ")
            guard words.count > 4 else { return }
            let numbers = [words[1], words[2], words[4]].compactMap { word in
                word.split(separator: ":").last.flatMap { UInt64($0, radix: 16) }
            }
            guard numbers.count == 3, numbers[1] == port, words[3] == Self.established else { return }
            sockets[UInt16(truncatingIfNeeded: numbers[0])] = numbers[2]
        }
        #else
        return nil
        #endif
    }

    /// The state of an open connection in the system's table.
    private static let established = "01"
}
