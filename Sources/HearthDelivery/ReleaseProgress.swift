import HearthBase

/// Turns the progress of files fetched one after the other into that of their release.
///
/// The total is known once the exact length of every file is: from the catalog, from the server that sends it, or because
/// it is here. Rounded lengths add up to nothing that a bar could be trusted with.
final class ReleaseProgress: Sendable {
    private struct State {
        /// The bytes of the files that are here.
        var before: UInt64
        /// The most bytes ever told.
        var highest: UInt64 = 0
        /// The files that are not here yet, the one under way first.
        var coming: ArraySlice<FileSize>
    }

    private let state: Locked<State>
    private let report: @Sendable (TransferProgress) -> Void

    /// The progress of files that are to come, in this order.
    init(_ files: [FileSize], report: @escaping @Sendable (TransferProgress) -> Void) {
        state = Locked(State(before: 0, coming: files[...]))
        self.report = report
    }

    /// The progress of what is done with bytes that are all here.
    init(installed bytes: UInt64, report: @escaping @Sendable (TransferProgress) -> Void) {
        state = Locked(State(before: bytes, coming: []))
        self.report = report
    }

    /// Takes a reading of the file under way.
    func update(_ progress: TransferProgress) {
        let (completed, total, repeated) = state.withLock { state in
            let sizes = [progress.totalBytes ?? state.coming.first?.exact] + state.coming.dropFirst().map(\.exact)
            let known = sizes.compactMap { $0 }
            let total = known.count == sizes.count ? ([state.before] + known).saturatedSum : nil
            let completed = [state.before, progress.completedBytes].saturatedSum
            state.highest = max(state.highest, min(completed, total ?? .max))
            return (state.highest, total, state.highest - min(state.highest, completed))
        }
        var reading = progress
        reading.completedBytes = completed
        reading.totalBytes = total
        if reading.phase.bringsBytes { reading.repeatedBytes += repeated }
        report(reading)
    }

    /// The file under way is here, and has so many bytes.
    func fileEnded(_ size: UInt64) {
        state.withLock { state in
            state.before = [state.before, size].saturatedSum
            state.coming = state.coming.dropFirst()
        }
    }

    /// Takes a reading of the archive being unpacked; its bytes are another count than those that were fetched.
    func extracting(_ progress: TransferProgress) { report(progress) }

    func installing() { tell(.installing) }

    /// All bytes are here; what is done with them now.
    func activating(_ progress: ActivationProgress) {
        switch progress {
        case .verifying: tell(.verifying)
        case .preparing: tell(.preparing)
        case .probing: tell(.probing)
        }
    }

    private func tell(_ phase: TransferProgress.Phase) {
        let bytes = state.withLock { max($0.highest, $0.before) }
        report(TransferProgress(phase: phase, completedBytes: bytes, totalBytes: bytes))
    }
}
