import HearthBase

/// Where talk goes while a screen is drawn: a line written beside it would spoil the picture.
final class ScreenNotes: TextSink {
    private let sink: any TextSink
    private let hear = Locked<(@Sendable (String) -> Void)?>(nil)

    /// Talk for `sink`, as long as nobody takes it.
    init(_ sink: any TextSink) { self.sink = sink }

    // Lines, not bars: those belong to whoever has the terminal's last line.
    var isTerminal: Bool { false }
    var width: Int? { nil }

    /// Gives what is said from now on to `hear`, or again to the sink.
    func divert(_ hear: (@Sendable (String) -> Void)?) { self.hear.withLock { $0 = hear } }

    func write(_ text: String) throws {
        guard let hear = hear.withLock({ $0 }) else { return try sink.write(text) }
        hear(text)
    }
}
