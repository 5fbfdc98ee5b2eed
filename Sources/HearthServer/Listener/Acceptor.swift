#if Server
import CMicrohttpd
import Foundation
import HearthBase

/// A thread that accepts connections and gives them to libmicrohttpd.
///
/// Unchecked because of the C pointers, which are valid until ``stop()`` has returned.
final class Acceptor: @unchecked Sendable {
    /// A listening socket and the daemon that serves its connections.
    struct Door: @unchecked Sendable {
        let socket: ListeningSocket
        let daemon: OpaquePointer
    }

    private let doors: Locked<[Door]>
    private let hasRoom: @Sendable () -> Bool
    private let accepted: @Sendable () -> Void
    /// A byte in this pipe ends the thread.
    private let bell: (reading: Int32, writing: Int32)
    private let ended = DispatchSemaphore(value: 0)
    private let isStopped = Locked(false)

    /// Starts the thread. While `hasRoom` is false, further connections wait in the system's queue.
    /// - Parameter accepted: called for each connection that was given to the library.
    /// - Throws: ``ServerError`` with `cannot-listen`.
    init(
        _ doors: [Door], hasRoom: @escaping @Sendable () -> Bool, accepted: @escaping @Sendable () -> Void
    ) throws {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { throw ServerError.cannotListen(errno, host: "?", port: 0) }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        bell = (ends[0], ends[1])
        self.doors = Locked(doors)
        self.hasRoom = hasRoom
        self.accepted = accepted
        let thread = Thread { [self] in
            ThreadName.current = "hearth.accept"
            run()
            ended.signal()
        }
        thread.start()
    }

    deinit {
        close(bell.reading)
        close(bell.writing)
    }

    private func run() {
        let doors = doors.withLock { $0 }
        let stop = pollfd(fd: bell.reading, events: Int16(POLLIN), revents: 0)
        var isCrowded = false
        while true {
            isCrowded = isCrowded || !hasRoom()
            // A server with too many connections or open files looks again after a pause.
            var waits =
                [stop]
                + (isCrowded
                    ? [] : doors.map { pollfd(fd: $0.socket.descriptor, events: Int16(POLLIN), revents: 0) })
            let count = poll(&waits, nfds_t(waits.count), isCrowded ? 50 : -1)
            if waits[0].revents != 0 {
                // Those that wait already were promised an answer.
                for door in doors { _ = accept(at: door) }
                return
            }
            if isCrowded {
                isCrowded = !hasRoom()
                if isCrowded { continue }
                waits = [stop] + doors.map { pollfd(fd: $0.socket.descriptor, events: 0, revents: Int16(POLLIN)) }
            } else if count <= 0 {
                continue
            }
            for (door, wait) in zip(doors, waits.dropFirst()) where wait.revents != 0 {
                isCrowded = !accept(at: door) || isCrowded
            }
        }
    }

    /// Accepts some of the connections that wait; `false` if the system refuses them for now.
    private func accept(at door: Door) -> Bool {
        for _ in 0..<64 {
            guard hasRoom() else { return true }
            switch hearth_mhd_accept(door.daemon, door.socket.descriptor) {
            case 1: accepted()
            case 0: return true
            default:
                Log.write(.info, "a connection was not accepted", [.count("errno", errno)])
                return false
            }
        }
        return true
    }

    /// Closes the sockets, after ``stop()``.
    func closeSockets() {
        let doors = doors.withLock { doors in
            defer { doors = [] }
            return doors
        }
        for door in doors { door.socket.stopListening() }
    }

    /// Ends the thread: no connection is accepted after it. Blocks for a moment.
    func stop() {
        let isFirst = isStopped.withLock { isStopped in
            defer { isStopped = true }
            return !isStopped
        }
        guard isFirst else { return }
        var byte: UInt8 = 0
        _ = write(bell.writing, &byte, 1)
        ended.wait()
    }
}
#endif
