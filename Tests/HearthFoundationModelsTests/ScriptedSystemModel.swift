import HearthBase
import HearthInference

@testable import HearthFoundationModels

/// A model of the system that answers from a script: readings of the whole answer so far.
struct ScriptedSystemModel: SystemModel {
    enum End: Sendable {
        case usage(TokenUsage?)
        case fail(any Error)
        case waitForCancellation
    }

    var unavailability: SystemUnavailability?
    var contextSize = 8192
    var readings: [String] = []
    var end = End.usage(nil)
    /// The requests, and the number of readings that were taken.
    let requests = Locked<[SystemRequest]>([])
    let taken = Locked(0)

    func answer(
        _ request: SystemRequest, onSnapshot: @escaping @Sendable (String) -> Bool
    ) async throws -> TokenUsage? {
        requests.withLock { $0.append(request) }
        for reading in readings {
            taken.withLock { $0 += 1 }
            guard onSnapshot(reading) else { return nil }
        }
        switch end {
        case .usage(let usage): return usage
        case .fail(let error): throw error
        case .waitForCancellation:
            let (never, source) = AsyncStream<Never>.makeStream()
            for await _ in never {}
            source.finish()
            throw CancellationError()
        }
    }
}
