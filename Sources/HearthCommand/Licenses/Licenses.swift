import HearthBase

/// `hearth licenses`
struct Licenses: Command {
    @Flag("list", "Print only the names, licenses and kinds of use.") var isList
    @Option(.report) var format: EventFormat

    static let declaration = CommandDeclaration(
        "licenses", summary: "Show the licenses of everything in this program",
        """
        Prints the components that are part of this program, the libraries of the system that it is linked with, and the
        texts of the components' licenses. The texts of the system's libraries come with the system: on Debian, in
        /usr/share/doc/PACKAGE/copyright.

        hearth licenses --list  # Names and licenses.
        hearth licenses > licenses.txt  # All texts, for an app that contains Hearth.
        """)

    /// A component as `--format json` prints it.
    private struct Entry: Encodable {
        let name, license, use: String
        let text: String?
    }

    func run(in context: CommandContext) async throws {
        let notices = LicenseNotice.all
        guard format == .text else {
            let entries = notices.map {
                Entry(
                    name: $0.name, license: $0.license, use: $0.group.isOfTheSystem ? "dynamic" : "bundled",
                    text: isList || $0.text.isEmpty ? nil : $0.text)
            }
            return try context.console.print(JSON.pretty(entries))
        }
        try context.console.print(
            notices,
            [
                .left("LICENSE") { $0.license },
                .left("USE") { $0.group.isOfTheSystem ? "linked dynamically" : "bundled" }, .left("NAME") { $0.name },
            ])
        guard !isList else { return }
        for notice in notices where !notice.text.isEmpty {
            try context.console.write("\n== \(notice.name) (\(notice.license))\n\n\(notice.text)\n")
        }
    }
}
