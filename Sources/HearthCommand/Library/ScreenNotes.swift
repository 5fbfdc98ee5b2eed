import HearthBase

/// Receives messages while a screen is drawn, which direct output would disturb.
final class ScreenNotes: TextSink {
    private let sink: any TextSink
    private let hear = Locked<(@Sendable (String) -> Void)?>(nil)

    /// Passes messages to `sink` unless they are diverted.
    init(_ sink: any TextSink) { self.sink = sink }

    // Lines instead of bars, which would need the terminal's last line.
    var isTerminal: Bool { false }
    var width: Int? { nil }

    /// Passes later messages to `hear`, or to the sink again for `nil`.
    func divert(_ hear: (@Sendable (String) -> Void)?) { self.hear.withLock { $0 = hear } }

    func write(_ text: String) throws {
        guard let hear = hear.withLock({ $0 }) else { return try sink.write(text) }
        hear(text)
    }
}
