import HearthBase
import HearthClassification

/// The counts of a file's pages, and where the output stands.
struct PageReport {
    let file: String
    var page = 0
    var pages = 0
    /// The line of the page that the last character was in.
    var line: Int?
    var counts: [DecodedCharacter.Verdict: Int] = [:]

    var total: Int { counts.values.reduce(0, +) }
}

/// Prints classifications and decoded pages, as text or as events.
struct ClassifyOutput: Sendable {
    let console: Console
    let format: EventFormat
    /// Whether the settings have a cloud that may be asked about unsure characters.
    var offersCloud = false

    /// Stands for a character that was not read.
    private static let gap = "□"

    func show(_ candidates: [Candidate], of file: String) throws {
        switch format {
        case .text:
            let texts = candidates.map { "\($0.label) \(Self.percent($0.confidence))" }
            try console.print("\(file): \(texts.joined(separator: ", "))")
        case .json:
            try console.emit(ClassificationEvent(file: file, candidates: candidates.map(CandidateFields.init)))
        }
    }

    func show(_ event: PageEvent, _ report: inout PageReport) throws {
        switch event {
        case .page(let number, let count, let page):
            // Pages are a blank line apart.
            if format == .text, report.line != nil { try console.write("\n\n") }
            (report.page, report.pages, report.line) = (number, count, nil)
            if format == .json {
                try console.emit(
                    CutPageEvent(
                        file: report.file, page: number + 1, pages: count, characters: page.cells.count,
                        degrees: page.degrees, direction: page.direction.rawValue))
            }
        case .classified(let count, let total):
            console.showBar("\(report.file.shownOnTerminal): \(count) of \(total) characters")
        case .character(let character, let box):
            report.counts[character.verdict, default: 0] += 1
            if format == .json {
                try console.emit(CharacterEvent(report, character, box))
            } else {
                console.showBar(nil)
                let isNewLine = report.line.map { $0 != character.line } ?? false
                let text = character.text.isEmpty ? Self.gap : Self.shown(character.text)
                try console.write((isNewLine ? "\n" : "") + marked(text, character.verdict))
            }
            report.line = character.line
        }
    }

    func finish(_ report: PageReport) throws {
        console.showBar(nil)
        func count(_ verdict: DecodedCharacter.Verdict) -> Int { report.counts[verdict] ?? 0 }
        if format == .json {
            return try console.emit(
                DoneEvent(
                    file: report.file, pages: report.pages, characters: report.total, accepted: count(.accepted),
                    uncertain: count(.uncertain), verified: count(.verified), unverified: count(.unverified)))
        }
        if report.line != nil { try console.write("\n") }
        console.say(
            "\(report.file): \(report.total) characters: \(count(.accepted)) sure, \(count(.uncertain)) fairly sure, "
                + "\(count(.verified)) by the cloud, \(count(.unverified)) unverified")
        if offersCloud, count(.unverified) > 0, count(.verified) == 0 {
            console.say("--cloud (Decode All) asks the cloud about the \(count(.unverified)) unverified ones.")
        }
    }

    /// Says what is sent to the cloud.
    /// - Parameter credits: those left of this month's; `nil` where they are not counted.
    func announce(_ offer: EscalationOffer, credits: (left: Int, of: Int)?) {
        console.showBar(nil)
        let paid = credits.map { "; each takes one of the \($0.left) credits left of \($0.of)" } ?? ""
        console.say(
            "asking the cloud about \(offer.pictures) characters: at most \(offer.requests) requests and "
                + "\(offer.tokenLimit) tokens\(paid)")
    }

    /// The text in the colour of its verdict, at a terminal with colours.
    private func marked(_ text: String, _ verdict: DecodedCharacter.Verdict) -> String {
        guard console.output.isTerminal, console.canDim else { return text }
        let colour =
            switch verdict {
            case .accepted: 32
            case .uncertain: 33
            case .verified: 35
            case .unverified: 31
            }
        return "\u{1B}[\(colour)m\(text)\u{1B}[0m"
    }

    private static func shown(_ label: String) -> String { TerminalText.sanitised(label) }

    private static func percent(_ confidence: Double) -> String {
        guard confidence.isFinite else { return "?" }
        let tenths = Int((confidence * 1000).rounded())
        return "\(tenths / 10).\(tenths % 10)%"
    }
}

// MARK: - Events

private struct CandidateFields: Encodable {
    let label: String
    @OrNull var confidence: Double?

    init(_ candidate: Candidate) {
        label = candidate.label
        confidence = candidate.confidence.isFinite ? candidate.confidence : nil
    }
}

private struct ClassificationEvent: Encodable {
    let event = "classification"
    let file: String
    let candidates: [CandidateFields]
}

private struct CutPageEvent: Encodable {
    let event = "page"
    let file: String
    let page: Int
    let pages: Int
    let characters: Int
    let degrees: Double
    let direction: String
}

private struct CharacterEvent: Encodable {
    let event = "character"
    let file: String
    let page: Int
    let line: Int
    let box: PixelBox
    let text: String
    @OrNull var confidence: Double?
    let verdict: String
    let source: String
    let reason: String
    let candidates: [CandidateFields]

    init(_ report: PageReport, _ character: DecodedCharacter, _ box: PixelBox) {
        (file, page, line, self.box) = (report.file, report.page + 1, character.line + 1, box)
        (text, verdict, source) = (character.text, character.verdict.rawValue, character.source.rawValue)
        confidence = character.confidence
        reason = character.reason.code
        candidates = character.candidates.map(CandidateFields.init)
    }
}

private struct DoneEvent: Encodable {
    let event = "done"
    let file: String
    let pages: Int
    let characters: Int
    let accepted: Int
    let uncertain: Int
    let verified: Int
    let unverified: Int
}
