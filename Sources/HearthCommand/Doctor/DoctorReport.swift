import Hearth

/// The report of `doctor`: facts by chapter, and findings.
struct DoctorReport: Sendable, Encodable {
    /// One fact.
    struct Fact: Sendable, Encodable {
        let name: String
        var value: String
    }

    /// Facts with a common title.
    struct Chapter: Sendable, Encodable {
        let title: String
        var facts: [Fact]
    }

    /// Something the user may want to change.
    struct Finding: Sendable, Encodable {
        enum Severity: String, Sendable, Encodable {
            /// Something does not work.
            case problem
            /// Works, but could be better or is not set up yet.
            case note
        }

        let severity: Severity
        let code: String
        var message: String
        var cure: String?

        /// The finding for people.
        var lines: [String] {
            ["\(severity.rawValue): \(TerminalText.singleLine(message)) [\(code)]"]
                + (cure.map { ["  " + TerminalText.singleLine($0)] } ?? [])
        }
    }

    var chapters: [Chapter] = []
    /// The answers of the addresses; `nil` if they were not asked.
    var online: [OnlineExamination.Answer]?
    var findings: [Finding] = []

    /// Adds facts under a title.
    mutating func add(_ title: String, _ facts: KeyValuePairs<String, String>) {
        chapters.append(Chapter(title: title, facts: facts.map { Fact(name: $0.key, value: $0.value) }))
    }

    /// Adds a problem.
    mutating func problem(_ code: String, _ message: String, cure: String) {
        findings.append(Finding(severity: .problem, code: code, message: message, cure: cure))
    }

    /// Adds a note.
    mutating func note(_ code: String, _ message: String, cure: String) {
        findings.append(Finding(severity: .note, code: code, message: message, cure: cure))
    }

    /// Adds a failure of the examination.
    mutating func add(_ error: any Error, as severity: Finding.Severity = .problem) {
        findings.append(Finding(error, severity: severity))
    }

    /// The findings that are problems.
    var problems: [Finding] { findings.filter { $0.severity == .problem } }

    /// The report with every text passed through `change`.
    func mapping(_ change: (String) -> String) -> DoctorReport {
        var report = self
        for chapter in report.chapters.indices {
            for fact in report.chapters[chapter].facts.indices {
                report.chapters[chapter].facts[fact].value = change(report.chapters[chapter].facts[fact].value)
            }
        }
        report.online = online?.map { answer in
            var answer = answer
            answer.address = change(answer.address)
            return answer
        }
        for finding in report.findings.indices {
            report.findings[finding].message = change(report.findings[finding].message)
            report.findings[finding].cure = report.findings[finding].cure.map(change)
        }
        return report
    }

    /// The report as lines to display.
    var lines: [String] {
        var chapters = chapters
        if let online {
            let facts = online.map { Fact(name: $0.name, value: $0.text) }
            chapters.append(
                Chapter(
                    title: "Online",
                    facts: facts.isEmpty ? [Fact(name: "addresses", value: "none are configured")] : facts))
        }
        let width = chapters.flatMap(\.facts).map { TerminalText.columns(of: $0.name) }.max() ?? 0
        var lines: [String] = []
        for chapter in chapters {
            lines.append(chapter.title)
            for fact in chapter.facts {
                lines.append(
                    "  \(TerminalText.padded(fact.name, to: width))  \(TerminalText.singleLine(fact.value))")
            }
            lines.append("")
        }
        if problems.isEmpty { lines.append("Nothing is wrong.") }
        return lines + findings.flatMap(\.lines)
    }
}
