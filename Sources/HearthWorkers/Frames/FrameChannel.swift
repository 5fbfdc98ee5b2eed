import Foundation

/// Frames over one connected stream socket, between a process and one of its workers.
///
/// The first byte of a body is its kind; the meaning of the rest is the caller's. All calls block: they belong on
/// threads of the caller's own. One thread may receive while others send.
package final class FrameChannel: Sendable {
    /// The longest body of a frame, in bytes. Longer content is the caller's to divide.
    package static let maximumLength = 1 << 20

    /// The socket. Closed with the channel.
    package let descriptor: Int32
    // `NSLock` and not `Locked`, because it is held during a system call that may block.
    private let sending = NSLock()
    private let receiving = NSLock()
    // Used only while `receiving` is locked.
    private nonisolated(unsafe) var reader = FrameReader(maximumLength: FrameChannel.maximumLength)

    /// Makes a channel that owns `descriptor`.
    package init(descriptor: Int32) {
        self.descriptor = descriptor
        #if canImport(Darwin)
        var isOn: Int32 = 1
        setsockopt(descriptor, SOL_SOCKET, SO_NOSIGPIPE, &isOn, socklen_t(MemoryLayout<Int32>.size))
        #endif
    }

    deinit { close(descriptor) }

    /// Two connected channels, for two sides within one process.
    /// - Throws: ``FrameError/system(_:)``.
    package static func pair() throws(FrameError) -> (FrameChannel, FrameChannel) {
        let (first, second) = try descriptorPair()
        return (FrameChannel(descriptor: first), FrameChannel(descriptor: second))
    }

    /// Two connected sockets that no started program inherits.
    /// - Throws: ``FrameError/system(_:)``.
    static func descriptorPair() throws(FrameError) -> (Int32, Int32) {
        var descriptors: [Int32] = [-1, -1]
        #if os(Linux)
        let kind = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)
        #else
        let kind = SOCK_STREAM
        #endif
        guard socketpair(AF_UNIX, kind, 0, &descriptors) == 0 else { throw .system(errno) }
        #if !os(Linux)
        for descriptor in descriptors { _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC) }
        #endif
        return (descriptors[0], descriptors[1])
    }

    /// Sends one frame, and returns when the system has taken all of it.
    /// - Throws: ``FrameError/malformed`` for a body of no bytes or more than ``maximumLength``, which sends nothing;
    ///   ``FrameError/closed``; ``FrameError/system(_:)``.
    package func send(_ body: some Collection<UInt8>) throws(FrameError) {
        let length = body.count
        guard length > 0 && length <= Self.maximumLength else { throw .malformed }
        var frame: [UInt8] = []
        frame.reserveCapacity(FrameReader.headerLength + length)
        for index in 0..<FrameReader.headerLength { frame.append(UInt8(truncatingIfNeeded: length >> (8 * index))) }
        frame.append(contentsOf: body)
        sending.lock()
        defer { sending.unlock() }
        var sent = 0
        while sent < frame.count {
            #if os(Linux)
            let flags = Int32(MSG_NOSIGNAL)
            #else
            let flags: Int32 = 0
            #endif
            let count = frame.withUnsafeBytes {
                Foundation.send(descriptor, $0.baseAddress?.advanced(by: sent), $0.count - sent, flags)
            }
            if count < 0 { try recover(from: errno, waitingFor: POLLOUT) } else { sent += count }
        }
    }

    /// Waits for the next frame.
    /// - Returns: its body; `nil` at the end of the stream.
    /// - Throws: ``FrameError/malformed``, also for an end within a frame; ``FrameError/system(_:)``.
    package func receive() throws(FrameError) -> [UInt8]? {
        receiving.lock()
        defer { receiving.unlock() }
        while true {
            if let body = try reader.next() { return body }
            let count = try reader.fill { free throws(FrameError) in try read(into: free) }
            if count == 0 {
                try reader.finish()
                return nil
            }
        }
    }

    /// Ends both directions: the other side sees the end of the stream, and blocked calls of this side return.
    package func shutdown() { _ = Foundation.shutdown(descriptor, Int32(SHUT_RDWR)) }

    /// Reads some bytes; 0 at the end. `recv` without a control buffer: descriptors sent along are closed by the
    /// system.
    private func read(into free: UnsafeMutableRawBufferPointer) throws(FrameError) -> Int {
        while true {
            let count = recv(descriptor, free.baseAddress, free.count, 0)
            if count >= 0 { return count }
            // A peer that ended before it read everything.
            if errno == ECONNRESET { return 0 }
            try recover(from: errno, waitingFor: POLLIN)
        }
    }

    /// Returns when the call may be repeated.
    private func recover(from number: Int32, waitingFor event: Int32) throws(FrameError) {
        switch number {
        case EINTR: return
        case EAGAIN, EWOULDBLOCK:
            var watched = pollfd(fd: descriptor, events: Int16(event), revents: 0)
            // Whatever poll reports, the repeated call says what holds.
            _ = poll(&watched, 1, -1)
        case EPIPE, ECONNRESET, ENOTCONN, ESHUTDOWN: throw .closed
        default: throw .system(number)
        }
    }
}
