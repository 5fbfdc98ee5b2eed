import Foundation
import HearthBase

/// The lines of a descriptor, read only while a caller waits for one: between two lines other code may read the descriptor.
struct DemandedSource: TextSource {
    private let source: DescriptorSource
    private let reader: DemandedReader

    init(_ source: DescriptorSource) {
        self.source = source
        reader = DemandedReader(source)
    }

    var isTerminal: Bool { source.isTerminal }
    func lines() -> AsyncStream<String> { AsyncStream { [reader] in await reader.next() } }
    func all(limit: Int) async throws -> String { try await source.all(limit: limit) }
}

/// Reads a line for each request, on a thread of its own.
private final class DemandedReader: Sendable {
    private struct State {
        var lines: [String] = []
        var hasEnded = false
        var waiting: CheckedContinuation<String?, Never>?
    }

    private let state = Locked(State())
    private let demand = DispatchSemaphore(value: 0)

    init(_ source: DescriptorSource) {
        let (state, demand) = (state, demand)
        source.readOnThread { next in
            var splitter = LineSplitter()
            while true {
                demand.wait()
                var isEmpty = state.withLock { $0.lines.isEmpty }
                var hasEnded = false
                while isEmpty, !hasEnded {
                    let chunk = next()
                    hasEnded = chunk == nil
                    let lines = splitter.append(chunk ?? [])
                    state.withLock { $0.lines += lines }
                    isEmpty = state.withLock { $0.lines.isEmpty }
                }
                let isOver = hasEnded
                let (waiting, text) = state.withLock { state in
                    state.hasEnded = state.hasEnded || isOver
                    defer { state.waiting = nil }
                    // A request that was given up leaves its line to the next one.
                    let text = state.waiting == nil || state.lines.isEmpty ? nil : state.lines.removeFirst()
                    return (state.waiting, text)
                }
                waiting?.resume(returning: text)
                if isOver { return }
            }
        }
    }

    func next() async -> String? {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isOver = state.withLock { state in
                    if !state.hasEnded, !Task.isCancelled { state.waiting = continuation }
                    return state.hasEnded || Task.isCancelled
                }
                if isOver { continuation.resume(returning: nil) } else { demand.signal() }
            }
        } onCancel: {
            let waiting = state.withLock { state in
                defer { state.waiting = nil }
                return state.waiting
            }
            waiting?.resume(returning: nil)
        }
    }
}
