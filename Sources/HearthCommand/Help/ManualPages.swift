import Foundation
import HearthBase

/// The manual pages of the program: `hearth.1`, and a page for each command or group.
struct ManualPages: Sendable {
    private let table: CommandTable
    private let version: String
    private let date: Date

    init(_ table: CommandTable, version: String, date: Date) {
        (self.table, self.version, self.date) = (table, version, date)
    }

    /// Writes all pages into a folder, which is made when missing.
    /// - Throws: `FileError`
    func write(to folder: Path) async throws {
        let pages = pages
        try await blocking {
            let files = LocalFileSystem()
            try files.makeFolders(folder)
            for page in pages { try files.replaceContents(of: folder.joined(page.name), with: Data(page.text.utf8)) }
        }
    }

    /// The names of the files with their texts.
    var pages: [(name: String, text: String)] {
        [("hearth.1", overview)] + table.entries.map { ("hearth-\($0.name).1", page($0)) }
    }

    private var overview: String {
        var page = start("hearth", "bring AI models to this device and run them here")
        page.heading("synopsis")
        page.paragraph([.bold("hearth"), .plain(" "), .italic("COMMAND"), .plain(" …")])
        for chapter in table.chapters {
            page.heading(chapter.title)
            for entry in chapter.entries { page.item([.bold("hearth-\(entry.name)"), .plain("(1)")], entry.summary) }
        }
        for section in HelpText.generalSections {
            page.heading(section.title)
            for row in section.rows { page.item([.bold(row.name)], row.meaning) }
        }
        return page.text
    }

    private func page(_ entry: CommandEntry) -> String {
        var page = start("hearth-\(entry.name)", entry.summary)
        page.heading("synopsis")
        for type in entry.types { page.paragraph(usage(type)) }
        if entry.isGroup {
            page.heading("commands")
            for type in entry.types {
                page.subheading(type.declaration.commandLine)
                page.paragraph([.plain(type.declaration.summary + ".")])
                describe(type, in: &page, headings: false)
            }
        } else if let type = entry.types.first {
            describe(type, in: &page, headings: true)
        }
        if let section = entry.section {
            page.heading(section.title)
            for row in section.rows { page.item([.bold(row.name)], row.meaning) }
        }
        page.heading("see also")
        page.paragraph([.bold("hearth"), .plain("(1)")])
        return page.text
    }

    private func start(_ name: String, _ summary: String) -> ManualText {
        let day = date.formatted(.iso8601.year().month().day())
        var page = ManualText(title: name, date: day, version: "hearth \(version)")
        page.name(name, summary)
        return page
    }

    private func usage(_ type: any Command.Type) -> [ManualText.Part] {
        let parameters = CommandParameters(of: type.init())
        var parts: [ManualText.Part] = [.bold(type.declaration.commandLine)]
        for shape in parameters.arguments.map(\.shape) { parts += [.plain(" "), .italic(shape.usage)] }
        for shape in parameters.options.map(\.shape) {
            let words: [ManualText.Part] =
                [.bold(shape.flag)] + (shape.valueName.map { [.plain(" "), .italic($0)] } ?? [])
            let several: [ManualText.Part] = shape.isRepeatable && shape.valueName != nil ? [.plain("…")] : []
            let isRequired = shape.isRequired || type.declaration.requiredOptions.contains(shape.name)
            parts += isRequired ? [.plain(" ")] + words + several : [.plain(" [")] + words + [.plain("]")] + several
        }
        return parts
    }

    /// - Parameter headings: whether the parts have headings of their own, on the page of one command.
    private func describe(_ type: any Command.Type, in page: inout ManualText, headings: Bool) {
        let (declaration, parameters) = (type.declaration, CommandParameters(of: type.init()))
        if headings, !declaration.discussion.isEmpty { page.heading("description") }
        for paragraph in declaration.discussion { page.paragraph([.plain(paragraph)]) }
        func items(_ title: String, _ rows: [([ManualText.Part], String)]) {
            guard !rows.isEmpty else { return }
            if headings { page.heading(title) }
            for row in rows { page.item(row.0, row.1) }
        }
        items("arguments", parameters.arguments.map(\.shape).map { ([.italic($0.name)], $0.help) })
        if let section = declaration.section {
            items(section.title, section.rows.map { ([.bold($0.name)], $0.meaning) })
        }
        let options = headings ? parameters.optionShapes : parameters.options.map(\.shape)
        items(
            "options",
            options.map { shape in
                let short = shape.short.map { "-\($0), " } ?? ""
                return (
                    [.bold(short + shape.flag)] + (shape.valueName.map { [.plain(" "), .italic($0)] } ?? []),
                    HelpText.help(shape)
                )
            })
        items("exit status", declaration.exitStatuses.map { ([.bold("\($0.status)")], $0.meaning) })
        if headings, !declaration.examples.isEmpty { page.heading("examples") }
        for example in declaration.examples { page.example(example.line, example.explanation) }
    }
}
