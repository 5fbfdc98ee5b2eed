import Dispatch
import Foundation

/// Turns the process's signals into calls on a separate queue.
enum Signals {
    private static let queue = DispatchQueue(label: "hearth.signals")

    /// Calls `body` for every signal of that number until the process ends.
    /// - Parameter evenIfIgnored: whether to handle a signal that the parent process ignored, as `nohup` does SIGHUP.
    static func handle(_ number: Int32, evenIfIgnored: Bool = true, _ body: @escaping @Sendable () -> Void) {
        let before = signal(number, SIG_IGN)
        let wasIgnored = unsafeBitCast(before, to: Int.self) == unsafeBitCast(SIG_IGN, to: Int.self)
        if wasIgnored && !evenIfIgnored { return }
        // The handler keeps the source alive, as released sources stop; nothing else touches it.
        nonisolated(unsafe) let source = DispatchSource.makeSignalSource(signal: number, queue: queue)
        source.setEventHandler { withExtendedLifetime(source) { body() } }
        source.resume()
    }
}
