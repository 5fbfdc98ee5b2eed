import Foundation

/// The calls into code of a model file that are under way: its template, its tokenizer, its computation. A process
/// that runs hostile files in a worker reads from it which call takes too long.
package final class CallWatch: Sendable {
    /// What a call runs.
    package enum Kind: UInt8, Sendable, CaseIterable { case template, tokenizer, step, picture }

    /// A call under way.
    package struct Call: Sendable, Hashable {
        package var kind: Kind
        /// Since the call began.
        package var wallSeconds: Double
        /// The processor time of the call's thread since then.
        package var processorSeconds: Double
        /// Since the call last showed that it goes on; since its beginning for a call that never does.
        package var silentSeconds: Double
        /// The bytes of the text that the call reads.
        package var bytes: UInt64

        package init(
            kind: Kind, wallSeconds: Double, processorSeconds: Double, silentSeconds: Double, bytes: UInt64 = 0
        ) {
            self.kind = kind
            self.bytes = bytes
            self.wallSeconds = wallSeconds
            self.processorSeconds = processorSeconds
            self.silentSeconds = silentSeconds
        }
    }

    private struct Entry {
        let kind: Kind
        let bytes: UInt64
        let thread: pthread_t
        let begun: UInt64
        let processor: UInt64
        let signs: (@Sendable () -> UInt64)?
        /// The signs seen by the last look, and when there were more than before.
        var seen: UInt64 = 0
        var lastSign: UInt64
    }

    private struct State {
        var entries: [UInt64: Entry] = [:]
        var last: UInt64 = 0
    }

    /// Of the process.
    package static let shared = CallWatch()

    private let state = Locked(State())

    package init() {}

    /// Runs a call. Its thread's processor time counts from here.
    /// - Parameter bytes: the bytes of the text that it reads.
    package func during<Result>(
        _ kind: Kind, bytes: Int = 0, _ body: () throws -> Result
    ) rethrows -> Result {
        let number = begin(kind, bytes: bytes, signs: nil)
        defer { end(number) }
        return try body()
    }

    /// Begins a call on this thread; it ends with ``end(_:)`` on the same thread.
    /// - Parameter signs: a number that grows while the call goes on; `nil` for a call that shows nothing.
    package func begin(_ kind: Kind, bytes: Int = 0, signs: (@Sendable () -> UInt64)?) -> UInt64 {
        let thread = pthread_self()
        let now = SystemClock.monotonic
        let entry = Entry(
            kind: kind, bytes: UInt64(max(0, bytes)), thread: thread, begun: now,
            processor: SystemClock.processor(ofThread: thread) ?? 0,
            signs: signs, seen: signs?() ?? 0, lastSign: now)
        return state.withLock { state in
            state.last += 1
            state.entries[state.last] = entry
            return state.last
        }
    }

    /// Ends a call. It leaves before its thread can end, so that its clock can be read under the lock.
    package func end(_ number: UInt64) { state.withLock { _ = $0.entries.removeValue(forKey: number) } }

    /// The calls under way.
    package var calls: [Call] {
        let now = SystemClock.monotonic
        return state.withLock { state in
            state.entries.map { number, entry in
                var entry = entry
                if let signs = entry.signs?(), signs != entry.seen { (entry.seen, entry.lastSign) = (signs, now) }
                state.entries[number] = entry
                let processor = SystemClock.processor(ofThread: entry.thread) ?? entry.processor
                return Call(
                    kind: entry.kind, wallSeconds: Self.seconds(entry.begun, now),
                    processorSeconds: Self.seconds(entry.processor, processor),
                    silentSeconds: Self.seconds(entry.lastSign, now), bytes: entry.bytes)
            }
        }
    }

    private static func seconds(_ from: UInt64, _ to: UInt64) -> Double { to > from ? Double(to - from) / 1e9 : 0 }
}
