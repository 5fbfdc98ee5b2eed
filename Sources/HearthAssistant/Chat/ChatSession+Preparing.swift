import HearthBase
import HearthInference

/// The beginnings of a question while it is typed: which of them an engine reads next.
struct TypedPrompt: Sendable, Hashable {
    /// The beginning to be read next; `nil` for none.
    private(set) var expected: String?
    private var read: String?

    /// Notes what is typed. The last word may go on, so a beginning without another whole word tells nothing new.
    mutating func type(_ text: String) {
        let end = text.lastIndex(where: \.isWhitespace).map(text.index(after:)) ?? text.startIndex
        let whole = String(text[..<end])
        expected = whole == read ? nil : whole
    }

    /// The beginning to read now, if it is still the one that was expected.
    mutating func take(_ text: String) -> Bool {
        guard expected == text else { return false }
        (read, expected) = (text, nil)
        return true
    }

    /// Forgets what was typed.
    mutating func clear() { (read, expected) = (nil, nil) }
}

extension ChatSession {
    /// The time without a change after which a typed text is read.
    static let typingPause = Duration.milliseconds(300)

    /// Loads the model and computes the known part of the next prompt, so that its answer begins sooner: at first the
    /// instructions and the conversation, then the whole words of the question that is typed.
    ///
    /// Call it at the prompt, and again whenever the typed text changes. Returns at once. A text is read after a pause of
    /// 0.3 seconds; while one is read, only the last of those that follow is read next. It takes one core, ends when anything
    /// else needs the engine, and is kept only where computed states are (`stateFolder`). Nothing is read during an answer.
    /// - Parameter promptPrefix: the beginning of the next question.
    public func prewarm(promptPrefix: String = "") {
        guard turn == nil else { return }
        typed.type(promptPrefix)
        guard preparation == nil, typed.expected != nil else { return }
        preparation = Task { await readTyped() }
    }

    private func readTyped() async {
        while let text = typed.expected, !Task.isCancelled {
            if !text.isEmpty {
                do { try await parts.time.sleep(for: Self.typingPause) } catch { break }
            }
            if typed.take(text) { await read(text) }
        }
        preparation = nil
    }

    private func read(_ text: String) async {
        let question = AssistantMessage(role: .user, content: text, date: parts.time.now, parent: messagesKept.leaf)
        do {
            let asked = try await asked(question, SendOptions())
            try await asked.engine.reader.prepare(
                asked.before + [ChatMessage(.user, asked.beginning)], options: asked.generation)
        } catch {
            Log.write(.debug, "assistant", "a question is not read early", [.error(error)])
        }
    }

    /// Ends the reading, because a turn begins or the conversation ends.
    func endReading() {
        typed.clear()
        preparation?.cancel()
    }
}
