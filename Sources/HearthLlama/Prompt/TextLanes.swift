#if Llama
import HearthBase
import HearthInference

/// Orders the work with texts outside the engine's thread: making prompts, cutting texts into tokens, counting.
///
/// At most one long and one short text are cut at a time, and the shorter of the waiting ones first. So a caller with a
/// short text waits neither for the long texts of others nor for an answer.
struct TextLanes: Sendable {
    let short = TurnQueue()
    let long = TurnQueue()
    /// The most bytes of a short text, which is cut in a few hundredths of a second.
    private static let longestShort = 16 << 10

    /// Runs a body outside the cooperative pool at the turn of a text of this many bytes.
    func turn<Result: Sendable>(
        bytes: Int, _ body: @escaping @Sendable () throws -> Result
    ) async throws -> Result {
        try await lane(bytes).turn(size: bytes) { try await blocking(body) }
    }

    /// Runs a body like ``turn(bytes:_:)``; a cancelled task leaves the queue at once.
    /// - Throws: errors of `body`; `CancellationError`.
    func turnUnlessCancelled<Result: Sendable>(
        bytes: Int, _ body: @escaping @Sendable () throws -> Result
    ) async throws -> Result {
        try await lane(bytes).turnUnlessCancelled(size: bytes) { try await blocking(body) }
    }

    private func lane(_ bytes: Int) -> TurnQueue { bytes <= Self.longestShort ? short : long }
}
#endif
