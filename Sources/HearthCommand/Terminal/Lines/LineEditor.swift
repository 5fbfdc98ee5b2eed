import CEdit
import CTerminal
import Foundation
import HearthBase

/// Reads lines that a person edits at the process's terminal, with libedit: history, completion and bracketed paste.
///
/// libedit waits for keys on a thread of its own. Ctrl-C reaches it through ``cancel()``.
actor LineEditor: LineReader {
    private let executor = ThreadExecutor(name: "hearth.keys")
    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    nonisolated let canEdit = true
    private nonisolated let keys: KeySource
    private let history: LineHistory?
    private let completion: @Sendable (String) -> LineCompletion
    private nonisolated let typed = Locked<(@Sendable (String) -> Void)?>(nil)
    /// Started with the first line.
    private var session: EditSession?

    /// Switches bracketed paste on and off.
    static let (pasteOn, pasteOff) = ("\u{1B}[?2004h", "\u{1B}[?2004l")

    /// An editor of the terminal; `nil` if the input or the output is not a terminal, or a dumb one.
    /// - Parameters:
    ///   - history: where lines are kept; `nil` keeps them only until the end.
    ///   - completion: the possible continuations of a beginning of a line.
    init?(
        environment: [String: String], history: LineHistory?,
        completion: @escaping @Sendable (String) -> LineCompletion = { _ in LineCompletion() }
    ) {
        let isDumb = ["dumb", "", nil].contains(environment["TERM"])
        guard !isDumb, isatty(STDIN_FILENO) == 1, isatty(STDOUT_FILENO) == 1, let keys = KeySource(STDIN_FILENO) else {
            return nil
        }
        (self.keys, self.history, self.completion) = (keys, history, completion)
        Signals.handle(SIGWINCH) { [weak keys] in keys?.tell(.resized) }
        Signals.handle(SIGCONT) { [weak keys] in keys?.tell(.resumed) }
    }

    func line(prompt: String, initial: String) async -> LineInput {
        let keys = keys
        return await withTaskCancellationHandler {
            self.read(prompt, initial)
        } onCancel: {
            keys.tell(.cancelled)
        }
    }

    nonisolated func watch(_ typed: @escaping @Sendable (String) -> Void) { self.typed.withLock { $0 = typed } }

    nonisolated func cancel() { keys.tell(.cancelled) }

    nonisolated func remember(_ text: String, isKept: Bool) { Task { await self.keep(text, isKept: isKept) } }

    private func read(_ prompt: String, _ initial: String) -> LineInput {
        if session == nil {
            session = EditSession(keys: keys, entries: history?.entries() ?? [], completion: completion) { [typed] in
                typed.withLock { $0 }?($0)
            }
        }
        guard let session, !Task.isCancelled else { return .end }
        return session.read(prompt, initial)
    }

    private func keep(_ text: String, isKept: Bool) {
        session?.remember(text)
        if isKept { history?.append(text) }
    }
}

/// The possible continuations of a line.
struct LineCompletion: Sendable, Hashable {
    /// The number of characters before the cursor that the candidates replace.
    var length = 0
    var candidates: [String] = []

    /// The longest common beginning of the candidates.
    var common: String {
        guard var common = candidates.first else { return "" }
        for candidate in candidates { common = candidate.commonPrefix(with: common) }
        return common
    }
}

/// The editor of libedit and its callbacks. Used on one thread.
private final class EditSession {
    private let edit: OpaquePointer?
    private let entries: OpaquePointer?
    private let keys: KeySource
    private let completion: @Sendable (String) -> LineCompletion
    private let typed: @Sendable (String) -> Void
    /// The prompt as the C string that libedit reads.
    private var prompt: UnsafeMutablePointer<CChar>
    private var isCancelled = false
    /// Whether the line that was given up had text.
    private var hadText = false

    /// Characters that no key of a keyboard sends, bound to functions of this type.
    private enum Signal {
        static let paste: Unicode.Scalar = "\u{1E}"
        static let cancel: Unicode.Scalar = "\u{1D}"
    }

    private var queue: [wchar_t] = []
    private var filter = PasteFilter()
    private var pastes: [String] = []
    private var joiners = EmojiJoiners()

    init(
        keys: KeySource, entries lines: [String], completion: @escaping @Sendable (String) -> LineCompletion,
        typed: @escaping @Sendable (String) -> Void
    ) {
        self.keys = keys
        self.typed = typed
        self.completion = completion
        prompt = strdup("")
        edit = hearth_edit_start("hearth")
        entries = history_init()
        hearth_edit_set_owner(edit, Unmanaged.passUnretained(self).toOpaque())
        hearth_edit_use_keys(edit, "emacs")
        // The person's own settings of libedit.
        el_source(edit, nil)
        hearth_edit_set_prompt(edit, promptOfEditor, 1)
        hearth_edit_set_reader(edit, keyOfEditor)
        hearth_history_set_size(entries, Int32(LineHistory.maximumEntries))
        keepTerminal()
        for line in lines { hearth_history_add(entries, joiners.shown(line)) }
        hearth_edit_use_history(edit, entries)
        bindKeys()
    }

    /// Restores the terminal if the process ends while a line is edited.
    private func keepTerminal() {
        var attributes = termios()
        guard tcgetattr(STDIN_FILENO, &attributes) == 0 else { return }
        let leaving = LineEditor.pasteOff
        let isKept = hearth_terminal_keep(STDIN_FILENO, STDOUT_FILENO, &attributes, leaving, leaving.utf8.count)
        if !isKept { Log.write(.info, "a crash would leave the terminal as it is then") }
    }

    deinit {
        hearth_terminal_forget()
        el_end(edit)
        history_end(entries)
        free(prompt)
    }

    private func bindKeys() {
        hearth_edit_add_function(edit, "hearth-paste", "Inserts a pasted text", pasteOfEditor)
        hearth_edit_add_function(edit, "hearth-cancel", "Gives up the line", cancelOfEditor)
        hearth_edit_add_function(edit, "hearth-complete", "Completes a word", completeOfEditor)
        let bindings = [
            ("\u{1E}", "hearth-paste"), ("\u{1D}", "hearth-cancel"), ("\t", "hearth-complete"),
            ("\u{12}", "em-inc-search-prev"), ("\u{17}", "ed-delete-prev-word"),
            ("\u{1B}[3~", "ed-delete-next-char"), ("\u{1B}[1~", "ed-move-to-beg"), ("\u{1B}[4~", "ed-move-to-end"),
            ("\u{1B}[H", "ed-move-to-beg"), ("\u{1B}[F", "ed-move-to-end"), ("\u{1B}OH", "ed-move-to-beg"),
            ("\u{1B}OF", "ed-move-to-end"), ("\u{1B}[1;5C", "em-next-word"), ("\u{1B}[1;5D", "ed-prev-word"),
        ]
        for (key, function) in bindings { hearth_edit_bind(edit, key, function) }
    }

    func read(_ text: String, _ initial: String) -> LineInput {
        free(prompt)
        prompt = strdup(text)
        isCancelled = false
        keys.begin()
        if !initial.isEmpty { queue = [wchar_t(Signal.paste.value)] + queue }
        if !initial.isEmpty { pastes.insert(joiners.shown(TerminalText.sanitised(initial)), at: 0) }
        keys.write(LineEditor.pasteOn)
        defer { keys.write(LineEditor.pasteOff) }
        var count: Int32 = 0
        let line = el_gets(edit, &count)
        if isCancelled {
            keys.write("\r\n")
            return .cancelled(hadText: hadText)
        }
        guard let line, count > 0 else {
            keys.write("\r\n")
            return .end
        }
        var result = String(cString: line)
        if result.hasSuffix("\n") { result.removeLast() }
        return .line(joiners.restored(result))
    }

    func remember(_ text: String) { hearth_history_add(entries, joiners.shown(text)) }

    // MARK: Callbacks

    func currentPrompt() -> UnsafeMutablePointer<CChar> { prompt }

    /// The next character; `nil` at the end.
    func nextKey() -> wchar_t? {
        while queue.isEmpty {
            tellText()
            switch keys.next() {
            case .bytes(let bytes): take(bytes)
            case .cancelled:
                isCancelled = true
                queue.append(wchar_t(Signal.cancel.value))
            case .resized: el_resize(edit)
            case .resumed: hearth_edit_resume(edit)
            case .end: return nil
            }
        }
        return queue.removeFirst()
    }

    /// Tells the text of the line before the next key is awaited.
    private func tellText() {
        guard let line = el_line(edit)?.pointee, let start = line.buffer, let end = line.lastchar else { return }
        typed(String(decoding: UnsafeRawBufferPointer(start: start, count: max(0, end - start)), as: UTF8.self))
    }

    private func take(_ bytes: [UInt8]) {
        // An emoji comes as a whole.
        var text = ""
        func flush() {
            queue += joiners.shown(text).unicodeScalars.map { wchar_t($0.value) }
            text = ""
        }
        for event in bytes.flatMap({ filter.take($0) }) {
            switch event {
            case .character(let scalar): text.unicodeScalars.append(scalar)
            case .paste(let pasted):
                flush()
                pastes.append(joiners.shown(pasted))
                queue.append(wchar_t(Signal.paste.value))
            }
        }
        flush()
    }

    func insertPaste() -> UInt8 {
        guard !pastes.isEmpty else { return UInt8(CC_NORM) }
        return el_insertstr(edit, pastes.removeFirst()) == 0 ? UInt8(CC_REFRESH) : UInt8(CC_ERROR)
    }

    func giveUp() -> UInt8 {
        guard isCancelled else { return UInt8(CC_NORM) }
        hadText = el_line(edit).map { $0.pointee.lastchar > $0.pointee.buffer } ?? false
        return UInt8(CC_EOF)
    }

    func complete() -> UInt8 {
        guard let info = el_line(edit) else { return UInt8(CC_ERROR) }
        let line = info.pointee
        let count = line.cursor - line.buffer
        let before = String(
            decoding: UnsafeRawBufferPointer(start: line.buffer, count: max(0, count)), as: UTF8.self)
        let completion = completion(before)
        guard !completion.candidates.isEmpty else { return UInt8(CC_ERROR) }
        let common = completion.common
        let isOnly = completion.candidates.count == 1
        let typed = before.suffix(completion.length)
        if common.count > typed.count || isOnly {
            if completion.length > 0 { el_deletestr(edit, Int32(typed.unicodeScalars.count)) }
            let isFolder = common.hasSuffix("/")
            el_insertstr(edit, common + (isOnly && !isFolder ? " " : ""))
            return UInt8(CC_REFRESH)
        }
        keys.write("\r\n" + completion.candidates.map(TerminalText.singleLine).joined(separator: "  ") + "\r\n")
        return UInt8(CC_REDISPLAY)
    }

    /// The session of an editor in a callback.
    static func of(_ edit: OpaquePointer?) -> EditSession? {
        hearth_edit_owner(edit).map { Unmanaged<EditSession>.fromOpaque($0).takeUnretainedValue() }
    }
}

private func promptOfEditor(_ edit: OpaquePointer?) -> UnsafeMutablePointer<CChar>? {
    EditSession.of(edit)?.currentPrompt()
}

private func keyOfEditor(_ edit: OpaquePointer?, _ key: UnsafeMutablePointer<wchar_t>?) -> Int32 {
    guard let value = EditSession.of(edit)?.nextKey() else { return 0 }
    key?.pointee = value
    return 1
}

private func pasteOfEditor(_ edit: OpaquePointer?, _ key: Int32) -> UInt8 {
    EditSession.of(edit)?.insertPaste() ?? UInt8(CC_ERROR)
}

private func cancelOfEditor(_ edit: OpaquePointer?, _ key: Int32) -> UInt8 {
    EditSession.of(edit)?.giveUp() ?? UInt8(CC_ERROR)
}

private func completeOfEditor(_ edit: OpaquePointer?, _ key: Int32) -> UInt8 {
    EditSession.of(edit)?.complete() ?? UInt8(CC_ERROR)
}
