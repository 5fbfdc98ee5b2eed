import Dispatch
import Foundation
import HearthBase

/// Hashes bytes in order on a thread of its own, while whoever brings them writes them elsewhere.
///
/// A bounded queue: who adds faster than the processor hashes is made to wait, so only call it from a thread that may
/// block.
final class HashingPump: Sendable {
    private enum Item {
        case bytes([UInt8])
        case end(CheckedContinuation<SHA256Digest, Never>?)
    }

    /// What the thread and the pump share; the thread outlives the pump by the items that are queued.
    private final class Queue: Sendable {
        /// Chunks in flight; a chunk has at most two mebibytes.
        private static let capacity = 4

        private let items = Locked<[Item]>([])
        private let filled = DispatchSemaphore(value: 0)
        private let free = DispatchSemaphore(value: 0)

        init() {
            // Raised from 0, because a semaphore may not die below the value it was made with.
            for _ in 0..<Self.capacity { free.signal() }
        }

        func add(_ item: Item) {
            free.wait()
            items.withLock { $0.append(item) }
            filled.signal()
        }

        func run() {
            var hasher = SHA256Hasher()
            while true {
                filled.wait()
                let item = items.withLock { $0.isEmpty ? nil : $0.removeFirst() }
                // The bytes are let go of before the next wait, and their room is free again.
                free.signal()
                switch item {
                case .bytes(let bytes)?: bytes.withUnsafeBytes { hasher.update($0) }
                case .end(let waiter)?:
                    waiter?.resume(returning: hasher.finalize())
                    return
                case nil: continue
                }
            }
        }
    }

    private let queue: Queue

    /// Starts an empty hash.
    init() {
        let queue = Queue()
        self.queue = queue
        let thread = Thread { queue.run() }
        thread.name = "hearth.hash"
        thread.start()
    }

    deinit { queue.add(.end(nil)) }

    /// Adds the next bytes; waits while the queue is full.
    func add(_ bytes: [UInt8]) { queue.add(.bytes(bytes)) }

    /// The digest of everything added. Nothing can be added afterwards.
    func digest() async -> SHA256Digest {
        await withCheckedContinuation { queue.add(.end($0)) }
    }
}
