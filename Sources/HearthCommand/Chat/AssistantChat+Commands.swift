import Foundation
import HearthAssistant
import HearthBase
import HearthInference

extension AssistantChat {
    /// Performs a command.
    /// - Returns: whether the conversation goes on.
    func perform(_ command: ChatCommand) async throws -> Bool {
        switch command {
        case .nothing, .message: break
        case .exit: return false
        case .help: console.complain(ChatCommand.helpText(columns: console.errors.width))
        case .new(let isPrivate): try await begin(isPrivate: isPrivate)
        case .open(let word): try await open(word)
        case .search(let words): try await search(words)
        case .undo(let word): try await undo(word)
        case .perform(let word): try await carryOut(word)
        case .retry: try await turn { await $0.regenerate() }
        case .continuation: try await turn { await $0.continueLocally() }
        case .edit: try await editQuestion()
        case .copy: await copy()
        case .export(let name): try await export(to: name)
        case .image(let name): try await attach(image: name)
        case .file(let name): try await attach(file: name)
        case .model(let name): try await use(model: name)
        case .stats:
            showsStats.toggle()
            console.say(showsStats ? "Facts follow each answer." : "No more facts.")
            if showsStats, last != nil { try stats() }
        case .think(let word): try await think(word)
        case .set(let words): try await set(words)
        case .system(let text): await use(system: text)
        case .unknown(let word):
            console.complain("There is no \(word.shownOnTerminal). /help lists what there is.")
        }
        return true
    }

    // MARK: Conversations

    private func begin(isPrivate: Bool) async throws {
        // A run that began as private stays so.
        let isPrivate = isPrivate || self.isPrivate
        if isPrivate { try checkPrivate() }
        useFirstOptions()
        try await enter(nil, isPrivate: isPrivate)
        (cards, last) = ([], nil)
        console.say(
            isPrivate
                ? "A private conversation begins: it stays on this device, and nothing of it is kept."
                : "A new conversation begins.")
    }

    /// Uses the present engine and settings from the next answer on.
    func takeSettings() async { await setup.assistant.take(session, engine: engine, settings: settings) }

    /// The options and the system prompt of the command line, for another conversation.
    private func useFirstOptions() {
        settings.generation = setup.settings.generation
        settings.systemPrompt = setup.settings.systemPrompt
    }

    /// Leaves the conversation for another one.
    private func enter(_ id: String?, isPrivate: Bool) async throws {
        let left = session
        session = try await setup.assistant.session(id, isPrivate: isPrivate, engine: engine, settings: settings)
        guard left.isPrivate else { return }
        await left.end()
        await forget()
    }

    private func open(_ word: String) async throws {
        guard !word.isEmpty else { return try await list() }
        let summary: ConversationSummary
        if let number = Int(word), listed.indices.contains(number - 1) {
            summary = listed[number - 1]
        } else {
            summary = try await setup.home.conversation(word)
        }
        useFirstOptions()
        try await enter(summary.id, isPrivate: false)
        await showEarlierMessages()
    }

    private func list() async throws {
        listed = try await setup.home.conversations.conversations(limit: 15, offset: 0)
        guard !listed.isEmpty else { return console.say("There are no conversations.") }
        let columns: [Column<(Int, ConversationSummary)>] = [
            .right("N") { String($0.0) }, .left("LAST") { RecordText().moment($0.1.changed) },
            .left("TITLE") { $0.1.title },
        ]
        for line in columns.lines(of: Array(zip(1..., listed))) { console.complain(line) }
        console.say("/open N goes on with one of them.")
    }

    private func search(_ words: String) async throws {
        guard !words.isEmpty else { return console.complain("/search needs words.") }
        let hits = try await setup.home.conversations.search(words, limit: 15)
        guard !hits.isEmpty else { return console.say("Nothing is found.") }
        listed = []
        for hit in hits where !listed.contains(where: { $0.id == hit.conversation.id }) {
            listed.append(hit.conversation)
        }
        let listed = listed
        let columns: [Column<ConversationHit>] = [
            .right("N") { hit in String((listed.firstIndex { $0.id == hit.conversation.id } ?? 0) + 1) },
            .left("WHEN") { RecordText().moment($0.date) }, .left("TEXT") { $0.excerpt },
        ]
        for line in columns.lines(of: hits) { console.complain(line) }
        console.say("/open N goes on with the conversation.")
    }

    private func export(to name: String) async throws {
        let export = await session.export()
        let isJSON = name.lowercased().hasSuffix(".json")
        let data = try isJSON ? export.json() : Data(export.markdown().utf8)
        let file =
            name.isEmpty
            ? NoteFile.name(
                of: Note(
                    id: "", title: await session.summary.title, body: "", created: context.time.now,
                    changed: context.time.now)) + ".md" : name
        try await context.export(data, to: FileCompletion.expandingHome(file))
    }

    // MARK: Messages

    private func editQuestion() async throws {
        guard let question = await session.messages.last(where: { $0.role == .user }) else {
            return console.complain("There is no message to change.")
        }
        let (files, words) = Attachments.parts(of: question.content)
        // A terminal that cannot edit takes the new text alone.
        guard case .line(let text) = await reader.line(prompt: "edit > ", initial: words) else { return }
        let changed = text.trimmingCharacters(in: .whitespacesAndNewlines)
        guard !changed.isEmpty else { return console.say("Nothing is changed.") }
        try await turn { await $0.edit(question.id, to: files + changed) }
    }

    private func copy() async {
        guard let text = last?.content, !text.isEmpty else { return console.complain("There is no answer to copy.") }
        let isCopied = await Clipboard.copy(text, environment: context.environment, console: console)
        console.say(isCopied ? "Copied." : "This terminal has no clipboard.")
    }

    private func attach(image name: String) async throws {
        guard !name.isEmpty else { return console.complain("/image needs a file.") }
        let path = FileCompletion.expandingHome(name)
        attachments.images += try await blocking { try PictureFile.read([path]) }
        console.say("The picture goes with the next message.")
    }

    private func attach(file name: String) async throws {
        guard !name.isEmpty else { return console.complain("/file needs a file.") }
        var more = attachments
        try await more.add(file: name)
        attachments = more
        console.say("The file goes with the next message. Until then, and after it, every action asks.")
    }

    // MARK: Actions

    /// The card with a number, or the last one that fits.
    private func card(_ word: String, _ fits: (ActionCard) -> Bool) -> ActionCard? {
        if word.isEmpty { return cards.last(where: fits) }
        guard let number = Int(word), cards.indices.contains(number - 1) else { return nil }
        return cards[number - 1]
    }

    private func undo(_ word: String) async throws {
        guard let card = card(word, { $0.canUndo && $0.state == .done }) else {
            return console.complain(
                "There is no such action to undo. `hearth undo --list` shows those of other conversations.")
        }
        let undone = try await session.undo(card.id)
        if let index = cards.firstIndex(where: { $0.id == undone.id }) { cards[index] = undone }
        console.complain("Undone: \(TerminalText.singleLine(undone.title)).")
    }

    private func carryOut(_ word: String) async throws {
        let open: Set<ActionCard.State> = [.notCarriedOut, .declined, .failed]
        guard let card = card(word, { open.contains($0.state) }) else {
            return console.complain("There is no such card.")
        }
        approval.askAtOnce(true)
        defer { approval.askAtOnce(false) }
        showAlone(try await session.perform(card.id))
    }

    // MARK: Models

    private func use(model name: String) async throws {
        guard !name.isEmpty else { return console.complain("\(modelName().shownOnTerminal) answers.") }
        let found = try await findModel(name)
        engine = found.engine
        let shown = found.name
        modelName = { shown }
        await takeSettings()
        console.say("\(shown.shownOnTerminal) answers from now on.")
    }

    private func think(_ word: String) async throws {
        switch word {
        case "show": showsThinking = true
        case "fold": showsThinking = false
        case "": showsThinking.toggle()
        case "on", "off":
            settings.showThinking = word == "on"
            await takeSettings()
            return console.say(word == "on" ? "The model may think first." : "The model answers at once.")
        default: return console.complain("/think takes on, off, show or fold.")
        }
        console.say(showsThinking ? "Thinking is shown." : "Thinking is folded to a line.")
    }
}
