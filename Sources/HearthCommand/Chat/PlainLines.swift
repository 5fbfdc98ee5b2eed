/// Reads the lines of an input that is not edited here: the terminal itself, a pipe, a script.
actor PlainLines: LineReader {
    nonisolated let canEdit = false
    private let console: Console
    private var iterator: AsyncStream<String>.Iterator

    init(_ source: any TextSource, _ console: Console) {
        self.console = console
        iterator = source.lines().makeAsyncIterator()
    }

    func line(prompt: String, initial: String) async -> LineInput {
        console.prompt(initial.isEmpty ? prompt : "\(prompt)(\(TerminalText.singleLine(initial))) ")
        var next = iterator
        let line = await next.next(isolation: self)
        iterator = next
        return line.map { .line($0) } ?? .end
    }

    nonisolated func cancel() {}
    nonisolated func remember(_ text: String, isKept: Bool) {}
}
