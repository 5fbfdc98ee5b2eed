extension HearthCommand {
    /// All commands, in the order of the overview.
    static let table = CommandTable(chapters: [
        CommandChapter(title: "talk", entries: [.command(Chat.self), .command(RouteCommand.self)]),
        CommandChapter(
            title: "models",
            entries: [
                .command(Models.self), .command(Pull.self), .command(List.self), .command(Show.self),
                .command(Use.self),
                .command(RollbackCommand.self),
                .command(Remove.self), .command(Prune.self), .command(Verify.self), .command(Update.self),
                .group(
                    "transfers", "See and steer what is on its way",
                    [
                        TransfersList.self, TransfersPause.self, TransfersResume.self, TransfersCancel.self,
                        TransfersClean.self,
                    ]),
            ]),
        CommandChapter(title: "publishers", entries: publishing),
        CommandChapter(
            title: "this device",
            entries: [
                .group(
                    "config", "Read and change the settings",
                    [ConfigGet.self, ConfigSet.self, ConfigUnset.self, ConfigList.self]),
                .command(Doctor.self), .command(Licenses.self),
            ]),
    ])

    private static var publishing: [CommandEntry] {
        #if Server
            [.command(Publish.self), .command(Host.self)]
        #else
            [.command(Publish.self)]
        #endif
    }
}
