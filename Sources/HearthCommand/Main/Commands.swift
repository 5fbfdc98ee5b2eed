extension HearthCommand {
    /// All commands, in the order of the overview.
    static let table = CommandTable(
        chapters: [
            CommandChapter(
                title: "talk",
                entries: [
                    .command(Chat.self),
                    .group(
                        "chats", "Read, search, export and import conversations",
                        [
                            ChatsList.self, ChatsSearch.self, ChatsShow.self, ChatsExport.self, ChatsImport.self,
                            ChatsRename.self, ChatsRemove.self,
                        ]),
                    .command(RouteCommand.self), .command(Embed.self), .command(Classify.self),
                ]),
            CommandChapter(title: "your records", entries: records),
            CommandChapter(
                title: "models",
                entries: [
                    .command(Models.self), .command(Search.self), .command(Pull.self), .command(ImportModel.self),
                    .command(List.self),
                    .command(Show.self),
                    .command(Use.self),
                    .command(RollbackCommand.self),
                    .command(Remove.self), .command(Prune.self), .command(Verify.self), .command(Update.self),
                    .group(
                        "transfers", "List, pause, resume and cancel downloads",
                        [
                            TransfersList.self, TransfersPause.self, TransfersResume.self, TransfersCancel.self,
                            TransfersClean.self,
                        ]),
                ]),
            CommandChapter(title: "serving", entries: serving),
            CommandChapter(title: "publishers", entries: publishing),
            CommandChapter(
                title: "this device",
                entries: [
                    .group(
                        "config", "Read and change the settings",
                        [ConfigGet.self, ConfigSet.self, ConfigUnset.self, ConfigList.self],
                        section: ConfigSet.keys),
                    .command(Doctor.self), .command(Licenses.self), .command(Help.self), .command(Completions.self),
                    .command(VersionCommand.self),
                ]),
        ], firstLines: firstLines)

    /// The commands of a first day, with what they do.
    static let firstLines: [(line: String, meaning: String)] = [
        ("list --available", "See the models that can be had, and which fit this device"),
        ("search WORDS", "Find others on the Hugging Face Hub"),
        ("pull FAMILY", "Download and install one"),
        ("chat", "Talk with it; chat \"QUESTION\" gets one answer"),
        ("chats", "Read, search and export what was said"),
        ("notes add TITLE", "Keep a note; also reminders, calendar, habits, contacts"),
        ("undo", "Take the last action back"),
        ("serve", "Serve models to other programs, and a page for the browser"),
        ("connect", "Let coding agents and other apps use them"),
        ("doctor", "See what this machine offers and what is wrong"),
        ("help COMMAND", "Read about a command, or the code of an error"),
    ]

    private static let records: [CommandEntry] = [
        .records(Notes.self, "Read and write notes", exports: [NotesExport.self, NotesImport.self]),
        .records(CalendarNoun.self, "Read and write events", [RecordProblems<CalendarNoun>.self]),
        .records(
            Reminders.self, "Read and write reminders",
            [RemindersDue.self, RemindersDone.self, RecordProblems<Reminders>.self]),
        .records(Habits.self, "Define habits, and log them", [HabitsLog.self]),
        .records(Contacts.self, "Find people, and keep their numbers", [RecordProblems<Contacts>.self]),
        .command(Undo.self),
    ]

    private static var serving: [CommandEntry] {
        [
            .command(Serve.self), .command(Ps.self), .command(Stop.self), .command(Connect.self),
            .group("keys", "Manage API keys", [KeysCreate.self, KeysList.self, KeysRevoke.self]),
            .group(
                "preset", "Give models names with instructions and options of their own",
                [PresetList.self, PresetShow.self, PresetAdd.self, PresetRemove.self]),
        ]
    }

    private static let trust = CommandEntry.group(
        "trust", "Sign origins, and trust the keys of others",
        [
            TrustInit.self, TrustShow.self, TrustSign.self, TrustRenew.self, TrustAdd.self, TrustRotate.self,
            TrustRevoke.self, TrustKey.self, TrustAccept.self, TrustClient.self,
        ])

    private static var publishing: [CommandEntry] {
        [
            .command(Publish.self), .command(RolloutCommand.self), .command(Yank.self), .command(Unpublish.self),
            .group(
                "origin", "Examine and tidy a published origin", [OriginCheckCommand.self, OriginPrune.self]),
            trust, .command(Host.self),
            .group(
                "gateway", "Give devices signed addresses, and relay a cloud model",
                [GatewayServe.self, GatewayKeysCreate.self, GatewayKeysList.self, GatewayKeysRevoke.self]),
        ]
    }
}

extension CommandEntry {
    /// The group of the commands of a kind of record.
    /// - Parameters:
    ///   - own: the commands that only this kind has.
    ///   - exports: the commands that export and import, of a kind whose files are a folder.
    fileprivate static func records<Noun: RecordNoun>(
        _ noun: Noun.Type, _ summary: String, _ own: [any Command.Type] = [],
        exports: [any Command.Type] = [RecordExport<Noun>.self, RecordImportCommand<Noun>.self]
    ) -> Self {
        let common: [any Command.Type] = [
            RecordList<Noun>.self, RecordShow<Noun>.self, RecordAdd<Noun>.self, RecordEditCommand<Noun>.self,
            RecordRemove<Noun>.self,
        ]
        return .group(noun.name, summary, common + own + exports)
    }
}
