import HearthBase
import Testing

@testable import HearthCommand

/// A command with one of everything.
private struct Try: Command {
    @Argument("REF", .word, "A model.") var reference: String
    @Option("port", "N", .integer(0...65535), "A port.") var port = 0
    @Option("temperature", "T", .number(0...5), default: "cold", "Heat.") var temperature: Float?
    @Option("limit-rate", "BYTES", .byteCount, "Speed.") var rate: UInt64?
    @Option(.listing) var format: ListingFormat
    let more = More()

    static let declaration = CommandDeclaration("try", summary: "Try", "")

    func validate() throws {
        if more.force && rate != nil { throw UsageError("--force needs no --limit-rate", hint: nil) }
    }

    func run(in context: CommandContext) {}
}

/// A command with a list of words and a required option.
private struct TrySeveral: Command {
    @Argument("REF", .word, "A model.") var reference: String
    @Argument("MORE", .word, arity: .oneOrMore, "More.") var extra: [String]
    @Option("to", "FOLDER", .path, required: "FOLDER", "Where.") var folder: Path
    let more = More()

    static let declaration = CommandDeclaration("try", "several", summary: "Try", "")

    func run(in context: CommandContext) {}
}

/// A command with an optional word.
private struct TryOptional: Command {
    @Argument("REF", .word, arity: .optional, "A model.") var reference: String?

    static let declaration = CommandDeclaration("try", "optional", summary: "Try", "")

    func run(in context: CommandContext) {}
}

/// Parameters of two of these commands.
private struct More: ParameterGroup {
    @Option("tag", "TAG", .text, isRepeatable: true, "A tag.") var tags: [String]
    @Flag("force", short: "f", "Do it.") var force
}

extension Command {
    /// The command of the words after its name.
    fileprivate static func parse(_ words: [String]) throws -> Self {
        let table = CommandTable(chapters: [CommandChapter(title: "all", entries: [.command(self)])])
        guard case .run(let command as Self, _) = try table.invocation(of: [declaration.path.last ?? ""] + words) else {
            throw CancellationError()
        }
        return command
    }

    /// Whether the words ask for help.
    fileprivate static func asksForHelp(_ words: [String]) throws -> Bool {
        let table = CommandTable(chapters: [CommandChapter(title: "all", entries: [.command(self)])])
        guard case .help = try table.invocation(of: [declaration.path.last ?? ""] + words) else { return false }
        return true
    }
}

@Suite struct ArgumentParserTests {
    @Test(arguments: [
        ["m", "--port", "8080"], ["m", "--port=8080"], ["--port", "8080", "m"], ["--port=8080", "--", "m"],
        ["-f", "--port", "8080", "m"], ["-q", "m", "--port=8080", "--force", "--force"],
    ])
    func readsOptionsInEveryPlaceAndForm(words: [String]) throws {
        let command = try Try.parse(words)
        #expect(command.port == 8080)
        #expect(command.reference == "m")
    }

    @Test func absentOptionsHaveTheirDefaults() throws {
        let command = try Try.parse(["m"])
        #expect(command.port == 0 && command.temperature == nil && command.format == .table)
        #expect(command.more.tags.isEmpty && !command.more.force)
        #expect(try TryOptional.parse([]).reference == nil)
        #expect(try TryOptional.parse(["m"]).reference == "m")
    }

    @Test func commandsOfOneTypeShareNoValues() throws {
        let (one, other) = (try Try.parse(["a", "--port=1", "--format=json"]), try Try.parse(["b"]))
        #expect(one.reference == "a" && one.port == 1 && one.format == .json)
        #expect(other.reference == "b" && other.port == 0 && other.format == .table)
    }

    @Test func requiredOptionsAreMissed() throws {
        #expect(try TrySeveral.parse(["m", "n", "--to", "x"]).folder == Path("x"))
        #expect { try TrySeveral.parse(["m", "n"]) } throws: { error in
            (error as? UsageError)?.message == "hearth try several needs --to FOLDER"
        }
    }

    @Test func whatAValidationRefusesHasTheHintOfTheHelp() {
        #expect { try Try.parse(["m", "--force", "--limit-rate=1K"]) } throws: { error in
            guard let error = error as? UsageError else { return false }
            return error.message == "--force needs no --limit-rate"
                && error.context.remedy == "Run `hearth try --help` for usage."
        }
    }

    @Test func theHelpFollowsTheOrderOfTheProperties() throws {
        let parameters = CommandParameters(of: Try())
        #expect(parameters.arguments.map(\.shape.name) == ["REF"])
        #expect(
            parameters.options.map(\.shape.name)
                == ["port", "temperature", "limit-rate", "format", "tag", "force"])
        #expect(
            parameters.options.map(\.shape.defaultText) == ["0", "cold", nil, "table", nil, nil])
        let page = HelpText.page(Try.declaration, parameters)
        #expect(page.contains("  hearth try REF [--port N] [--temperature T] [--limit-rate BYTES]"))
    }

    @Test func repeatedOptionsKeepTheirOrder() throws {
        #expect(try Try.parse(["m", "--tag", "b", "--tag=a", "--tag="]).more.tags == ["b", "a", ""])
    }

    @Test func afterTheTerminatorEverythingIsAWord() throws {
        let command = try TrySeveral.parse(["--to=x", "--", "--port", "-f", "--", "-"])
        #expect(command.reference == "--port")
        #expect(command.extra == ["-f", "--", "-"])
        #expect(!command.more.force)
    }

    @Test func aLoneHyphenIsAWordAndAValueMayBeginWithOne() throws {
        #expect(try Try.parse(["-"]).reference == "-")
        #expect(try Try.parse(["m", "--tag", "- item"]).more.tags == ["- item"])
        #expect(try Try.parse(["m", "--tag", "-5"]).more.tags == ["-5"])
        #expect(try Try.parse(["m", "--tag=--port"]).more.tags == ["--port"])
        #expect(try Try.parse(["m", "--tag=a=b"]).more.tags == ["a=b"])
    }

    @Test func helpIsGivenHoweverWrongTheRestIs() throws {
        #expect(try Try.asksForHelp(["--help"]))
        #expect(try Try.asksForHelp(["a", "b", "c", "-h"]))
    }

    @Test(arguments: [
        [], ["a", "b"], ["m", "--prot", "1"], ["m", "--port"], ["m", "--port", "--force"], ["m", "--port", "--"],
        ["m", "--port=1", "--port=2"], ["m", "--force=yes"], ["m", "-x"], ["m", "--=1"], ["m", "--x\u{1B}[2J"],
        ["m", "-ff"], ["m", "--PORT=1"], ["m", "—port"],
    ])
    func refusesWrongUsage(words: [String]) {
        #expect { try Try.parse(words) } throws: { error in
            (error as? UsageError)?.disposition.exitStatus == 64
        }
    }

    @Test(arguments: [
        "", " ", "x", "-1", "65536", "1e3", "0x10", "99999999999999999999999", "8080 ", "８０", "+", "\u{0}", "1\n",
    ])
    func refusesWrongNumbers(word: String) throws {
        #expect { try Try.parse(["m", "--port=\(word)"]) } throws: { error in
            guard let error = error as? UsageError else { return false }
            return error.message.contains("--port must be a whole number, 0 to 65535")
        }
    }

    @Test(arguments: ["", "nan", "inf", "-0.1", "5.1", "1,5", "0.35f", "1e99"])
    func refusesWrongTemperatures(word: String) throws {
        #expect(throws: UsageError.self) { try Try.parse(["m", "--temperature", word]) }
    }

    @Test(arguments: [
        ("500", 500), ("500K", 500_000), ("1.5M", 1_500_000), ("2GiB", 2_147_483_648), ("1kb", 1000), ("7B", 7),
    ])
    func readsByteCounts(word: String, bytes: UInt64) throws {
        #expect(try Try.parse(["m", "--limit-rate", word]).rate == bytes)
    }

    @Test(arguments: ["0", "", "K", "-5", "nanM", "infinity", "0x10", "1e9", "1..5M", "1.5X", "99999999999999999999T"])
    func refusesWrongByteCounts(word: String) throws {
        #expect(throws: UsageError.self) { try Try.parse(["m", "--limit-rate=\(word)"]) }
    }

    @Test func giantWordsAreRefusedBrieflyAndQuickly() throws {
        let giant = String(repeating: "x", count: 1 << 20)
        for words in [["m", "--" + giant], ["m", "-" + giant], ["m", giant], ["m", "--port", giant]] {
            #expect {
                try Try.parse(words)
            } throws: { error in
                guard let error = error as? UsageError else { return false }
                return error.message.count < 200
            }
        }
    }

    @Test func messagesCarryNoControlCharacters() {
        #expect { try Try.parse(["m", "--x\u{1B}[31m\u{7}\nnext"]) } throws: { error in
            guard let error = error as? UsageError else { return false }
            return error.message.unicodeScalars.allSatisfy { $0.value >= 0x20 }
        }
    }

    @Test(arguments: [
        ("prot", ["--port"]), ("forc", ["--force"]), ("temprature", ["--temperature"]), ("form", ["--format"]),
        ("zzzzzz", []),
    ])
    func suggestsNearOptions(name: String, near: [String]) {
        #expect { try Try.parse(["m", "--\(name)"]) } throws: { error in
            guard let remedy = (error as? UsageError)?.context.remedy else { return false }
            return near.allSatisfy(remedy.contains) && remedy.contains("Did you mean") == !near.isEmpty
        }
    }
}
