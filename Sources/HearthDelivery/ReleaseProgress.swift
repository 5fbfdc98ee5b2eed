import HearthBase

/// Turns the progress of files fetched one after the other into that of their release.
final class ReleaseProgress: Sendable {
    private struct State {
        var before: UInt64 = 0
        var highest: UInt64 = 0
        var total: UInt64
    }

    private let state: Locked<State>
    private let report: @Sendable (TransferProgress) -> Void

    init(total: UInt64, report: @escaping @Sendable (TransferProgress) -> Void) {
        state = Locked(State(total: total))
        self.report = report
    }

    /// Takes a reading of the file under way, whose length the catalog gives as `estimate`.
    func update(_ progress: TransferProgress, file estimate: UInt64) {
        let (completed, total) = state.withLock { state in
            // A rounded length in the catalog gives way to what the server says.
            let whole = state.total - estimate + (progress.totalBytes ?? estimate)
            state.highest = max(state.highest, min(whole, state.before + progress.completedBytes))
            return (state.highest, whole)
        }
        var reading = progress
        reading.completedBytes = completed
        reading.totalBytes = total
        report(reading)
    }

    func fileEnded(_ estimate: UInt64) {
        state.withLock { $0.before += estimate }
    }

    /// Takes a reading of the archive being unpacked; its bytes are another count than those that were fetched.
    func extracting(_ progress: TransferProgress) { report(progress) }

    func installing() {
        let (completed, total) = state.withLock { (max($0.highest, $0.before), $0.total) }
        report(TransferProgress(phase: .installing, completedBytes: completed, totalBytes: max(total, completed)))
    }

    /// All bytes are here; what is done with them now.
    func activating(_ progress: ActivationProgress) {
        let (completed, total) = state.withLock { (max($0.highest, $0.before), $0.total) }
        let phase: TransferProgress.Phase =
            switch progress {
            case .verifying: .verifying
            case .preparing: .preparing
            case .probing: .probing
            }
        report(
            TransferProgress(
                phase: phase, completedBytes: max(total, completed), totalBytes: max(total, completed)))
    }
}
