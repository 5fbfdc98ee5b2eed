import Dispatch
import Foundation

/// The process's signals as calls, on a queue of their own.
enum Signals {
    private static let queue = DispatchQueue(label: "hearth.signals")

    /// Calls `body` for every signal of that number from now on, to the process's end.
    /// - Parameter evenIfIgnored: whether also where whoever started the process had it ignored, as `nohup` does with SIGHUP.
    static func handle(_ number: Int32, evenIfIgnored: Bool = true, _ body: @escaping @Sendable () -> Void) {
        let before = signal(number, SIG_IGN)
        let wasIgnored = unsafeBitCast(before, to: Int.self) == unsafeBitCast(SIG_IGN, to: Int.self)
        if wasIgnored && !evenIfIgnored { return }
        // Touched by its own handler only, which keeps it alive: a source that is let go of falls silent.
        nonisolated(unsafe) let source = DispatchSource.makeSignalSource(signal: number, queue: queue)
        source.setEventHandler { withExtendedLifetime(source) { body() } }
        source.resume()
    }
}
