import Foundation
import HearthBase

/// Waits for the bytes of a terminal, and for calls from other threads meanwhile.
final class KeySource: Sendable {
    enum Event: Sendable, Hashable {
        case bytes([UInt8])
        case cancelled
        case resized
        /// The program continues after a stop.
        case resumed
        case end
    }

    private let descriptor: Int32
    private let (wakeUp, waker): (Int32, Int32)
    /// What was told, until a reader takes it.
    private let told = Locked<[Event]>([])

    /// - Parameter descriptor: the terminal, which stays the caller's.
    init?(_ descriptor: Int32) {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { return nil }
        for end in ends {
            _ = fcntl(end, F_SETFD, FD_CLOEXEC)
            _ = fcntl(end, F_SETFL, O_NONBLOCK)
        }
        self.descriptor = descriptor
        (wakeUp, waker) = (ends[0], ends[1])
    }

    deinit {
        close(wakeUp)
        close(waker)
    }

    /// Forgets what was cancelled before.
    func begin() { told.withLock { $0.removeAll { $0 == .cancelled } } }

    /// Tells the one who waits of an event.
    func tell(_ event: Event) {
        told.withLock { if !$0.contains(event) { $0.append(event) } }
        var byte: UInt8 = 0
        // A full pipe wakes as well.
        _ = Foundation.write(waker, &byte, 1)
    }

    /// Waits for the next event. Blocks.
    func next() -> Event {
        while true {
            if let event = told.withLock({ $0.isEmpty ? nil : $0.removeFirst() }) { return event }
            var sources = [
                pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0),
                pollfd(fd: wakeUp, events: Int16(POLLIN), revents: 0),
            ]
            guard poll(&sources, 2, -1) >= 0 || errno == EINTR else { return .end }
            if sources[1].revents != 0 {
                var drained = [UInt8](repeating: 0, count: 64)
                while Foundation.read(wakeUp, &drained, drained.count) > 0 {}
                continue
            }
            guard sources[0].revents != 0 else { continue }
            var bytes = [UInt8](repeating: 0, count: 4096)
            let count = Foundation.read(descriptor, &bytes, bytes.count)
            if count > 0 { return .bytes(Array(bytes.prefix(count))) }
            if count == 0 || (errno != EINTR && errno != EAGAIN) { return .end }
        }
    }

    /// Writes to the terminal, past libedit. One that was closed ends the next read.
    func write(_ text: String) { try? DescriptorSink(descriptor: STDOUT_FILENO).write(text) }
}
