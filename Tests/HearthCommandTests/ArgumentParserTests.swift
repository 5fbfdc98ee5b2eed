import HearthBase
import Testing

@testable import HearthCommand

/// A command with one of everything.
private let reference = Argument("REF", ValueKind<String>.word, "A model.")
private let extra = Argument("MORE", ValueKind<String>.word, arity: .oneOrMore, "More.")
private let port = Option("port", "N", ValueKind<Int>.integer(0...65535), default: "0", "A port.")
private let temperature = Option("temperature", "T", ValueKind<Float>.number(0...5), "Heat.")
private let rate = Option("limit-rate", "BYTES", ValueKind<UInt64>.byteCount, "Speed.")
private let format = Option("format", "FORMAT", ValueKind<ListingFormat>.choice, "Form.")
private let tag = Option("tag", "TAG", ValueKind<String>.text, isRepeatable: true, "A tag.")
private let force = Flag("force", short: "f", "Do it.")

private func parse(_ words: [String], arguments: [any DeclaredArgument] = [reference]) throws -> ParsedArguments {
    try ArgumentParser(
        declaration: CommandDeclaration(
            "try", summary: "Try", arguments: arguments,
            options: [port, temperature, rate, format, tag, force], examples: [])
    ).parse(words)
}

@Suite struct ArgumentParserTests {
    @Test(arguments: [
        ["m", "--port", "8080"], ["m", "--port=8080"], ["--port", "8080", "m"], ["--port=8080", "--", "m"],
        ["-f", "--port", "8080", "m"], ["-q", "m", "--port=8080", "--force", "--force"],
    ])
    func readsOptionsInEveryPlaceAndForm(words: [String]) throws {
        let values = try parse(words)
        #expect(try values.value(port) == 8080)
        #expect(try values.value(reference) == "m")
    }

    @Test func repeatedOptionsKeepTheirOrder() throws {
        let values = try parse(["m", "--tag", "b", "--tag=a", "--tag="])
        #expect(try values.values(tag) == ["b", "a", ""])
    }

    @Test func afterTheTerminatorEverythingIsAWord() throws {
        let values = try parse(["--", "--port", "-f", "--", "-"], arguments: [reference, extra])
        #expect(values.positionals == ["--port", "-f", "--", "-"])
        #expect(!values.has(force))
    }

    @Test func aLoneHyphenIsAWordAndAValueMayBeginWithOne() throws {
        #expect(try parse(["-"]).value(reference) == "-")
        #expect(try parse(["m", "--tag", "- item"]).values(tag) == ["- item"])
        #expect(try parse(["m", "--tag", "-5"]).values(tag) == ["-5"])
        #expect(try parse(["m", "--tag=--port"]).values(tag) == ["--port"])
        #expect(try parse(["m", "--tag=a=b"]).values(tag) == ["a=b"])
    }

    @Test func helpIsGivenHoweverWrongTheRestIs() throws {
        #expect(try parse(["--help"]).has(.help))
        #expect(try parse(["a", "b", "c", "-h"]).has(.help))
    }

    @Test(arguments: [
        [], ["a", "b"], ["m", "--prot", "1"], ["m", "--port"], ["m", "--port", "--force"], ["m", "--port", "--"],
        ["m", "--port=1", "--port=2"], ["m", "--force=yes"], ["m", "-x"], ["m", "--=1"], ["m", "--x\u{1B}[2J"],
        ["m", "-ff"], ["m", "--PORT=1"], ["m", "—port"],
    ])
    func refusesWrongUsage(words: [String]) {
        #expect { try parse(words) } throws: { error in
            (error as? UsageError)?.disposition.exitStatus == 64
        }
    }

    @Test(arguments: [
        "", " ", "x", "-1", "65536", "1e3", "0x10", "99999999999999999999999", "8080 ", "８０", "+", "\u{0}", "1\n",
    ])
    func refusesWrongNumbers(word: String) throws {
        let values = try parse(["m", "--port=\(word)"])
        #expect { try values.value(port) } throws: { error in
            guard let error = error as? UsageError else { return false }
            return error.message.contains("--port must be a whole number, 0 to 65535")
        }
    }

    @Test(arguments: ["", "nan", "inf", "-0.1", "5.1", "1,5", "0.35f", "1e99"])
    func refusesWrongTemperatures(word: String) throws {
        let values = try parse(["m", "--temperature", word])
        #expect(throws: UsageError.self) { try values.value(temperature) }
    }

    @Test(arguments: [
        ("500", 500), ("500K", 500_000), ("1.5M", 1_500_000), ("2GiB", 2_147_483_648), ("1kb", 1000), ("7B", 7),
    ])
    func readsByteCounts(word: String, bytes: UInt64) throws {
        #expect(try parse(["m", "--limit-rate", word]).value(rate) == bytes)
    }

    @Test(arguments: ["0", "", "K", "-5", "nanM", "infinity", "0x10", "1e9", "1..5M", "1.5X", "99999999999999999999T"])
    func refusesWrongByteCounts(word: String) throws {
        let values = try parse(["m", "--limit-rate=\(word)"])
        #expect(throws: UsageError.self) { try values.value(rate) }
    }

    @Test func giantWordsAreRefusedBrieflyAndQuickly() throws {
        let giant = String(repeating: "x", count: 1 << 20)
        for words in [["m", "--" + giant], ["m", "-" + giant], ["m", giant], ["m", "--port", giant]] {
            #expect {
                let values = try parse(words)
                _ = try values.value(port)
            } throws: { error in
                guard let error = error as? UsageError else { return false }
                return error.message.count < 200
            }
        }
    }

    @Test func messagesCarryNoControlCharacters() {
        #expect { try parse(["m", "--x\u{1B}[31m\u{7}\nnext"]) } throws: { error in
            guard let error = error as? UsageError else { return false }
            return error.message.unicodeScalars.allSatisfy { $0.value >= 0x20 }
        }
    }

    @Test(arguments: [
        ("prot", ["--port"]), ("forc", ["--force"]), ("temprature", ["--temperature"]), ("form", ["--format"]),
        ("zzzzzz", []),
    ])
    func suggestsNearOptions(name: String, near: [String]) {
        #expect { try parse(["m", "--\(name)"]) } throws: { error in
            guard let remedy = (error as? UsageError)?.context.remedy else { return false }
            return near.allSatisfy(remedy.contains) && remedy.contains("Did you mean") == !near.isEmpty
        }
    }
}
