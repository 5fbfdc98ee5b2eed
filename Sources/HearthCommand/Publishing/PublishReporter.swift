import HearthBase
import HearthPublishing
import HearthTransfer

/// Shows the progress of a publication: a bar for each reading and sending of a file, or events.
final class PublishReporter: Sendable {
    private let format: EventFormat
    private let context: CommandContext
    /// The word for the second phase.
    private let sending: String
    private let displays = Locked<[PublishProgress.Step: ProgressDisplay]>([:])

    init(_ format: EventFormat, _ context: CommandContext, sending: String) {
        (self.format, self.context, self.sending) = (format, context, sending)
    }

    /// Shows a reading.
    @Sendable func show(_ progress: PublishProgress) {
        let doing = progress.phase == .reading ? "hashing" : sending
        if format == .json {
            // The last event reports a closed output, after the work is done.
            try? context.console.emit(PublishingEvent(progress, doing))
            return
        }
        let display = displays.withLock { displays in
            if let display = displays[progress.step] { return display }
            let display = ProgressDisplay(
                console: context.console, label: progress.file.lastComponent, doing: doing, format: format,
                time: context.time)
            displays[progress.step] = display
            return display
        }
        display.show(
            TransferProgress(
                state: .installing, completedBytes: progress.completedBytes, totalBytes: progress.totalBytes))
    }
}
