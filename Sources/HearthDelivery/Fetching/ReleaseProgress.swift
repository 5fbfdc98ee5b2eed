import HearthBase
import HearthStore
import HearthTransfer

/// The progress of a release: of its files, fetched in parallel, then of its installation and activation.
struct ReleaseProgress: Sendable {
    private let reporter: ProgressReporter
    /// The bytes of a release that is installed already.
    private let installed: UInt64

    /// The progress of files to fetch.
    init(_ files: [FileSize], time: TimeSource = .system, report: @escaping @Sendable (TransferProgress) -> Void) {
        reporter = ProgressReporter(files: files, time: time, report: report)
        installed = 0
    }

    /// The progress of a release that is installed.
    init(installed bytes: UInt64, report: @escaping @Sendable (TransferProgress) -> Void) {
        reporter = ProgressReporter(time: .system, report: report)
        installed = bytes
    }

    /// Records the progress of the file at an index.
    func update(_ index: Int, _ progress: TransferProgress) { reporter.take { $0.update(index, progress) } }

    /// Records that the file at an index is complete, with its size.
    func fileEnded(_ index: Int, _ size: UInt64) { reporter.take { $0.end(index, size) } }

    /// Reports stalls while `body` runs.
    func whileTicking<Result: Sendable>(_ body: @Sendable () async throws -> Result) async throws -> Result {
        try await reporter.whileTicking(body)
    }

    /// Reports the unpacking of an archive, which counts unpacked bytes.
    func extraction() -> StoreProgress {
        let extraction = ProgressReporter(time: .system, report: { [reporter] in reporter.forward($0) })
        return { extraction.report(.extracting, $0, $1) }
    }

    func installing() { report(.installing) }

    /// Reports a step of the activation, with all bytes complete.
    func activating(_ progress: ActivationProgress) {
        switch progress {
        case .verifying: report(.verifying)
        case .preparing: report(.preparing)
        case .probing: report(.probing)
        }
    }

    private func report(_ state: TransferState) {
        let bytes = max(installed, reporter.last?.completedBytes ?? 0)
        reporter.report(state, bytes, bytes)
    }
}
