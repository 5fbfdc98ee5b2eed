#if os(iOS)
import BackgroundTasks
import Foundation
import HearthBase
import HearthCatalog
import HearthDelivery
import HearthTransfer

/// Checks and installs downloaded models while the app is in the background, in view of the person: the system shows
/// the progress and lets the person end it.
///
/// Register it while the app launches. Submit it when a person starts a download, or before the app hands over.
/// ```swift
/// if #available(iOS 26, *) {
///     ContinuedInstallation.register(identifier, downloads)
///     try ContinuedInstallation.submit(identifier, title: "Models", subtitle: "Downloading")
/// }
/// ```
@available(iOS 26.0, *)
public enum ContinuedInstallation {
    /// How often the progress is shown.
    private static let interval = Duration.seconds(1)

    /// Registers what the task does: it waits for the system's downloads, then installs the models.
    /// - Parameter identifier: begins with the identifier of the app's bundle, and stands in
    ///   `BGTaskSchedulerPermittedIdentifiers` of its `Info.plist`.
    /// - Returns: `false` for an identifier that is not permitted there.
    @discardableResult
    public static func register(_ identifier: String, _ downloads: BackgroundDownloads) -> Bool {
        BGTaskScheduler.shared.register(forTaskWithIdentifier: identifier, using: nil) { task in
            guard let task = task as? BGContinuedProcessingTask else {
                return task.setTaskCompleted(success: false)
            }
            run(ShownTask(task: task), downloads)
        }
    }

    /// Asks the system to run the task now, or when it can.
    /// - Parameters:
    ///   - title: shown to the person.
    ///   - subtitle: shown below the title.
    /// - Throws: the error of `BGTaskScheduler.submit`.
    public static func submit(_ identifier: String, title: String, subtitle: String) throws {
        try BGTaskScheduler.shared.submit(
            BGContinuedProcessingTaskRequest(identifier: identifier, title: title, subtitle: subtitle))
    }

    private static func run(_ shown: ShownTask, _ downloads: BackgroundDownloads) {
        let work = Task {
            let showing = Task {
                while !Task.isCancelled {
                    // A reading that fails is shown at the next second.
                    if let readings = try? await downloads.progress() { shown.show(Array(readings.values)) }
                    try await Task.sleep(for: interval)
                }
            }
            await downloads.landed()
            showing.cancel()
            let isEnded = Task.isCancelled
            // The system takes success or failure only; `finish()` in front tells the error.
            // The received bytes stay if the person ends the task, or the system does.
            let outcomes = isEnded ? nil : try? await downloads.finish { shown.show([$1]) }
            let isDone = outcomes?.values.allSatisfy { if case .success = $0 { true } else { false } }
            shown.task.setTaskCompleted(success: isDone ?? false)
        }
        shown.task.expirationHandler = { work.cancel() }
    }
}

/// A task of the system, whose methods may be called on any thread.
@available(iOS 26.0, *)
private struct ShownTask: @unchecked Sendable {
    let task: BGContinuedProcessingTask

    /// Shows the bytes of downloads together.
    func show(_ readings: [TransferProgress]) {
        let totals = readings.compactMap(\.totalBytes)
        guard totals.count == readings.count, !totals.isEmpty else { return }
        task.progress.totalUnitCount = Int64(clamping: totals.saturatedSum)
        task.progress.completedUnitCount = Int64(clamping: readings.map(\.presentBytes).saturatedSum)
    }
}
#endif
