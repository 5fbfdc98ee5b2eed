import HearthBase

@testable import HearthCommand

/// A terminal of a test: it remembers what was drawn, and types what the test wants.
final class ScriptedTerminal: ScreenTerminal {
    private struct State {
        var screen = VirtualScreen()
        var size = ScreenSize(columns: 100, lines: 20)
        var hear: (@Sendable (TerminalEvent) -> Void)?
        var writes = 0
        var first: [String] = []
        var isOurs = false
        var suspensions = 0
    }

    private let state = Locked(State())
    private let (updates, source) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))

    var size: ScreenSize { state.withLock { $0.size } }
    var lines: [String] { state.withLock { $0.screen.text } }
    var strangers: [String] { state.withLock { $0.screen.strangers } }
    /// What was to be seen first.
    var firstLines: [String] { state.withLock { $0.first } }
    /// How often something was drawn.
    var writes: Int { state.withLock { $0.writes } }
    var isTaken: Bool { state.withLock { $0.isOurs } }
    var suspensions: Int { state.withLock { $0.suspensions } }

    func enter(_ hear: @escaping @Sendable (TerminalEvent) -> Void) throws {
        state.withLock { ($0.hear, $0.isOurs) = (hear, true) }
    }

    func leave() { state.withLock { ($0.hear, $0.isOurs) = (nil, false) } }

    /// Whoever has the terminal meanwhile leaves nothing of the picture.
    func suspend() throws {
        state.withLock { state in
            state.suspensions += 1
            state.screen = VirtualScreen()
        }
    }

    func write(_ text: String) throws {
        state.withLock { state in
            state.screen.write(text)
            if state.writes == 0 { state.first = state.screen.text }
            state.writes += 1
        }
        source.yield()
    }

    func tell(_ event: TerminalEvent) { state.withLock { $0.hear }?(event) }

    func type(_ text: String) { tell(.bytes(Array(text.utf8))) }

    func resize(_ size: ScreenSize) {
        state.withLock { $0.size = size }
        tell(.resized)
    }

    /// Returns once a line fits.
    func shows(_ isIt: @Sendable (String) -> Bool) async {
        if lines.contains(where: isIt) { return }
        for await _ in updates where lines.contains(where: isIt) { return }
    }
}
