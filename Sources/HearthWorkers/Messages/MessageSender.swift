import Foundation
import HearthBase

/// Sends messages in their order on a thread of its own, so that no caller waits for the socket.
///
/// A message is divided into frames, whose first byte tells whether another one follows. Messages of which many are
/// sent can be joined while they wait.
final class MessageSender: Sendable {
    /// The bytes of a frame beside its part of the message.
    static let frameOverhead = 1

    private struct State {
        var waiting: [[UInt8]] = []
        /// Whether the last waiting message accepts more content.
        var isOpen = false
        var bytes = 0
        var isClosed = false
    }

    // `NSCondition` and not `Locked`, because threads wait on it. The state is used only while it is locked.
    private let condition = NSCondition()
    private nonisolated(unsafe) var state = State()
    private let channel: FrameChannel
    private let limit: Int

    /// Starts the thread, which ends when the channel breaks or the sender is closed.
    /// - Parameter limit: the waiting bytes above which ``send(_:joining:)`` waits, so that a process whose peer does
    ///   not read does not fill its memory.
    init(_ channel: FrameChannel, limit: Int = .max) {
        self.channel = channel
        self.limit = limit
    }

    /// Starts the thread.
    func start(name: String) {
        Thread {
            ThreadName.current = name
            self.work()
        }.start()
    }

    /// Adds a message. Without effect once the sender is closed.
    func send(_ message: [UInt8]) { add { $0.waiting.append(message) } }

    /// Adds content to the last waiting message, if that accepts it, or begins a message with `head`.
    func send(_ content: [UInt8], joining head: [UInt8]) {
        add(opens: true) { state in
            if state.isOpen, let last = state.waiting.indices.last, state.waiting[last].count < Self.joinedLength {
                state.waiting[last].append(contentsOf: content)
            } else {
                state.waiting.append(head + content)
            }
        }
    }

    private static let joinedLength = FrameChannel.maximumLength / 2

    private func add(opens: Bool = false, _ change: (inout State) -> Void) {
        condition.lock()
        defer { condition.unlock() }
        while state.bytes > limit && !state.isClosed { condition.wait() }
        guard !state.isClosed else { return }
        change(&state)
        state.isOpen = opens
        state.bytes = state.waiting.reduce(0) { $0 + $1.count }
        condition.broadcast()
    }

    /// Drops what waits, and ends the thread after the message that it sends.
    func close() {
        condition.lock()
        defer { condition.unlock() }
        state.isClosed = true
        state.waiting = []
        condition.broadcast()
    }

    var isClosed: Bool {
        condition.lock()
        defer { condition.unlock() }
        return state.isClosed
    }

    private func next() -> [UInt8]? {
        condition.lock()
        defer { condition.unlock() }
        while state.waiting.isEmpty && !state.isClosed { condition.wait() }
        guard !state.waiting.isEmpty else { return nil }
        let message = state.waiting.removeFirst()
        state.isOpen = state.isOpen && !state.waiting.isEmpty
        state.bytes -= message.count
        condition.broadcast()
        return message
    }

    private func work() {
        while let message = next() {
            let size = FrameChannel.maximumLength - Self.frameOverhead
            var rest = message[...]
            do {
                repeat {
                    let part = rest.prefix(size)
                    rest = rest.dropFirst(size)
                    try channel.send([rest.isEmpty ? 1 : 0] + part)
                } while !rest.isEmpty
            } catch {
                // The reader of the channel sees its end, and says what follows from it.
                return close()
            }
        }
    }
}

extension FrameChannel {
    /// Waits for a whole message.
    /// - Parameter most: the longest message, in bytes.
    /// - Returns: `nil` at the end of the stream.
    /// - Throws: ``FrameError``; ``WireError`` for a message that is too long.
    func receiveMessage(most: Int) throws -> [UInt8]? { try receiveMessage { _ in most } }

    /// Waits for a whole message.
    /// - Parameter most: the longest message that begins like this, in bytes. It may throw.
    func receiveMessage(most: (ArraySlice<UInt8>) throws -> Int) throws -> [UInt8]? {
        var message: [UInt8] = []
        var limit: Int?
        while let frame = try receive() {
            let most = try limit ?? most(frame.dropFirst())
            limit = most
            guard frame[0] <= 1, message.count + frame.count - 1 <= most else { throw WireError() }
            message.append(contentsOf: frame.dropFirst())
            if frame[0] == 1 { return message }
        }
        guard message.isEmpty else { throw WireError() }
        return nil
    }
}
