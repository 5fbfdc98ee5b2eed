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

    private struct State {
        var isCancelled = false
        var isResized = false
        var isResumed = false
    }

    private let descriptor: Int32
    private let (wakeUp, waker): (Int32, Int32)
    private let state = Locked(State())

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
    func begin() { state.withLock { $0.isCancelled = false } }

    /// Ends a wait.
    func cancel() {
        state.withLock { $0.isCancelled = true }
        wake()
    }

    /// Reports another size of the window to the one who waits.
    func resize() {
        state.withLock { $0.isResized = true }
        wake()
    }

    /// Reports that the program continues after a stop.
    func resume() {
        state.withLock { $0.isResumed = true }
        wake()
    }

    private func wake() {
        var byte: UInt8 = 0
        // A full pipe wakes as well.
        _ = Foundation.write(waker, &byte, 1)
    }

    /// Waits for the next event. Blocks.
    func next() -> Event {
        while true {
            let pending = state.withLock { state -> Event? in
                if state.isCancelled {
                    state.isCancelled = false
                    return .cancelled
                }
                if state.isResized {
                    state.isResized = false
                    return .resized
                }
                if state.isResumed {
                    state.isResumed = false
                    return .resumed
                }
                return nil
            }
            if let pending { return pending }
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

    /// Writes to the terminal, past libedit.
    func write(_ text: String) {
        var text = text
        text.withUTF8 { bytes in
            var rest = UnsafeRawBufferPointer(bytes)
            while !rest.isEmpty {
                let count = Foundation.write(STDOUT_FILENO, rest.baseAddress, rest.count)
                // A terminal that was closed ends the next read.
                guard count > 0 else { return }
                rest = UnsafeRawBufferPointer(rebasing: rest[count...])
            }
        }
    }
}
