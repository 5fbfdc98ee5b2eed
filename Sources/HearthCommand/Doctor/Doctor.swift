import Foundation
import Hearth
import HearthBase

/// `hearth doctor`
struct Doctor: Command {
    @Flag("online", "Ask each address of the settings once: origins, the hub if it is used, the cloud.") var isOnline
    @Flag("report", "Leave out what says who and where you are: user and host names, home folders, addresses, tokens.")
    var isRedacted
    @Option(.report) var format: EventFormat

    static let declaration = CommandDeclaration(
        "doctor", summary: "Show what this machine offers and what is wrong",
        """
        Prints the processor's features, memory and its limit, free disk space, whether the network is there and metered
        and who says so, llama.cpp's version and back ends, and the state of the home folder, the origins and the cloud.
        Each thing that is wrong comes with its cure.

        Without --online nothing leaves this device. With it, all addresses are asked at the same time, for at most five
        seconds, with requests that cost nothing; one that does not answer well is a problem.

        0: Nothing keeps models from running.
        1: At least one problem was found.

        hearth doctor  # Look before asking for help.
        hearth doctor --online  # See whether the origins and the cloud answer, and how fast.
        hearth doctor --report > report.txt  # Make a report that is safe to share.
        """)

    func run(in context: CommandContext) async throws {
        var report = await Examination(context: context, isOnline: isOnline).report()
        if isOnline { await report.examineOnline(in: context) }
        if isRedacted {
            let redactor = Redactor(context: context)
            report = report.mapping(redactor.redacted)
        }
        try context.console.print(report, format, report.lines)
        let count = report.problems.count
        guard count == 0 else {
            throw CommandError(.problemsFound, count == 1 ? "one problem was found" : "\(count) problems were found")
        }
    }
}

extension Redactor {
    init(context: CommandContext) {
        let user = NSUserName()
        // Without a known home, there is no path to redact.
        self.init(
            modelHome: (try? context.home)?.string, shownAs: "$HEARTH_HOME", userHome: context.environment["HOME"],
            userName: user.isEmpty ? context.environment["USER"] : user, hostName: ProcessInfo.processInfo.hostName)
    }
}
