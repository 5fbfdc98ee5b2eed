import Foundation
import Hearth
import HearthBase
import HearthDelivery
import HearthTransfer

/// Decides when to show a transfer's progress and formats it. Without side effects: it gets readings and times.
struct ProgressRenderer: Sendable {
    /// The form of output.
    enum Style: Sendable, Hashable {
        /// For a terminal of that many columns: one line, redrawn.
        case bar(width: Int)
        /// For a log: few lines.
        case lines
    }

    /// The minimum time between two drawings of a bar.
    static let redrawInterval = Duration.milliseconds(100)
    /// The maximum time between two lines while bytes arrive.
    static let lineInterval = Duration.seconds(10)

    /// May change between readings, for example with the terminal's width.
    var style: Style
    let label: String
    /// What is done, in place of the state of the readings; `nil` for a transfer.
    var doing: String?
    /// The columns of `100%  downloading  999.9 MB of 999.9 MB  999.9 MB/s  59 min 59 s left`, rarely exceeded.
    private static let widestFigures = 62
    private static let usefulBar = 16
    private var lastShown: Duration?
    private var lastState: TransferState?
    private var lastTenth = -1

    init(style: Style, label: String) {
        self.style = style
        self.label = label
    }

    /// The text for a reading taken at `elapsed`, `nil` if it should not be shown.
    mutating func text(for progress: TransferProgress, at elapsed: Duration) -> String? {
        guard isDue(progress, at: elapsed) else { return nil }
        lastShown = elapsed
        lastState = progress.state
        lastTenth = Self.tenth(progress)
        switch style {
        case .bar(let width): return bar(progress, width: width)
        case .lines: return line(progress)
        }
    }

    private func isDue(_ progress: TransferProgress, at elapsed: Duration) -> Bool {
        guard let lastShown, lastState == progress.state else { return true }
        switch style {
        case .bar: return elapsed - lastShown >= Self.redrawInterval
        case .lines:
            return elapsed - lastShown >= Self.lineInterval
                || (Self.tenth(progress) > lastTenth && elapsed - lastShown >= .seconds(1))
        }
    }

    private static func tenth(_ progress: TransferProgress) -> Int { Int((progress.fraction ?? 0) * 10) }

    private func line(_ progress: TransferProgress) -> String {
        "\(label): \(facts(progress).joined(separator: ", "))"
    }

    /// The bar uses the columns left by the figures; a narrow terminal drops figures from the right.
    private func bar(_ progress: TransferProgress, width: Int) -> String {
        // Leave the last column free: some terminals wrap after it.
        let room = max(1, width - 1)
        var facts = facts(progress)
        while facts.count > 1 && TerminalText.columns(of: facts.joined(separator: "  ")) > room { facts.removeLast() }
        var text = facts.joined(separator: "  ")
        var left = room - TerminalText.columns(of: text)
        // The name's width depends on the terminal only, so that the name does not come and go with the figures.
        let nameRoom = min(32, room - Self.widestFigures - Self.usefulBar - 2)
        let name = nameRoom >= 8 ? TerminalText.truncated(label, to: nameRoom) : ""
        if !name.isEmpty { left -= TerminalText.columns(of: name) + 2 }
        if let fraction = progress.fraction, left >= 12 {
            let inside = min(left - 4, 40)
            let done = Int(Double(inside) * fraction)
            text =
                "[" + String(repeating: "#", count: done) + String(repeating: ".", count: inside - done) + "]  " + text
        }
        if !name.isEmpty { text = name + "  " + text }
        return TerminalText.truncated(text, to: room)
    }

    /// The known figures: percent, phase, bytes, rate and time left; the most important first.
    private func facts(_ progress: TransferProgress) -> [String] {
        var facts: [String] = []
        if progress.totalBytes != 0, let percent = progress.percentText {
            facts.append(TerminalText.padded(percent, to: 4, atEnd: false))
        }
        facts.append(doing ?? progress.stateText)
        // All files were on this device already.
        if progress.totalBytes != 0 { facts.append(progress.bytesText) }
        facts += [progress.rateText, progress.timeLeftText].compactMap(\.self)
        if progress.state == .downloading, progress.connections > 1 {
            facts.append("\(progress.connections) connections")
        }
        return style == .lines ? facts.map { $0.trimmingCharacters(in: .whitespaces) } : facts
    }
}

/// Shows a transfer on the console, formatted by ``ProgressRenderer``.
package final class ProgressDisplay: Sendable {
    private let console: Console
    private let stopwatch: Stopwatch
    private let isEvents: Bool
    private let renderer: Locked<ProgressRenderer>

    /// - Parameter doing: what is done, in place of the state of the readings.
    init(
        console: Console, label: String, doing: String? = nil, format: EventFormat, time: TimeSource = .system
    ) {
        self.console = console
        stopwatch = time.stopwatch()
        isEvents = format == .json
        let style = console.barWidth.map { ProgressRenderer.Style.bar(width: $0) } ?? .lines
        var renderer = ProgressRenderer(style: style, label: label)
        renderer.doing = doing
        self.renderer = Locked(renderer)
    }

    /// Shows a reading if it is due. Callable from any thread.
    func show(_ progress: TransferProgress) {
        if isEvents {
            // Ignore a closed output here: the command's last event reports it, after the work is done.
            try? console.emit(PullEvent.progress(progress))
            return
        }
        let elapsed = stopwatch.elapsed
        let width = console.barWidth
        let text = renderer.withLock { renderer in
            if let width { renderer.style = .bar(width: width) }
            return renderer.text(for: progress, at: elapsed)
        }
        guard let text else { return }
        if width != nil { console.showBar(text) } else { console.say(text) }
    }

    /// Removes the bar.
    func end() { console.showBar(nil) }
}
