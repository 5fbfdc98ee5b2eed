import HearthInference
import HearthTestSupport
import Testing

@Suite struct StopStringMatcherTests {
    /// The shown text, computed from the whole text at once.
    static func expected(_ text: String, _ stops: [String]) -> (shown: String, stop: String?) {
        let bytes = Array(text.utf8)
        for end in bytes.indices {
            let front = bytes[...end]
            let ending = stops.filter {
                !$0.isEmpty && front.count >= $0.utf8.count && front.suffix($0.utf8.count).elementsEqual($0.utf8)
            }
            guard let longest = ending.max(by: { $0.utf8.count < $1.utf8.count }) else { continue }
            return (String(decoding: front.dropLast(longest.utf8.count), as: UTF8.self), longest)
        }
        return (text, nil)
    }

    private func run(_ pieces: some Sequence<String>, _ stops: [String]) -> (shown: String, stop: String?) {
        var matcher = StopStringMatcher(stops)
        var shown = ""
        for piece in pieces { shown += matcher.append(piece) }
        shown += matcher.finish()
        return (shown, matcher.matched)
    }

    @Test(
        arguments: [
            ("Hello", []), ("Hello", [""]), ("a END b", ["END"]), ("a EN b", ["END"]), ("ENEND", ["END"]),
            ("aaaab", ["aab"]), ("abcabd", ["abd"]), ("xabcdy", ["bc", "abcd"]), ("xabcdy", ["abcd", "bcd"]),
            ("one\n\ntwo", ["\n\n"]), ("答案。結束了", ["結束"]), ("👩‍👩‍👧 👩‍👧", ["👧"]), ("ab", ["ab"]), ("ab", ["a", "ab"]),
            ("she sells", ["hers", "he", "she"]), ("ushers", ["hers", "she!"]), ("abababac", ["ababac"]),
            ("…\u{2026}", ["\u{2025}"]), ("", ["x"]),
        ] as [(String, [String])])
    func endsBeforeTheFirst(text: String, stops: [String]) {
        let expected = Self.expected(text, stops)
        #expect(run([text], stops) == expected)
        #expect(run(text.unicodeScalars.map(String.init), stops) == expected)
    }

    @Test func holdsBackOnlyPossibleBeginnings() {
        var matcher = StopStringMatcher(["STOP", "\n\nUser:"])
        #expect(matcher.append("go S") == "go ")
        #expect(matcher.heldBytes == 1)
        #expect(matcher.append("TO") == "")
        #expect(matcher.append("W") == "STOW")
        #expect(matcher.heldBytes == 0)
        #expect(matcher.append("a\n\nUs") == "a")
        #expect(matcher.append("SST") == "\n\nUsS")
        #expect(matcher.append("OP and more") == "")
        #expect(matcher.matched == "STOP")
        #expect(matcher.append("more") == "")
        #expect(matcher.finish() == "")
    }

    /// Thousands of bytes are held, and each piece releases a few of them.
    @Test func holdsLongOnesBackPieceByPiece() {
        var random = SeededGenerator(seed: 12)
        let stop = String(repeating: "a", count: 5000) + "b"
        for ending in ["", "b", "cb"] {
            var pieces: [String] = []
            var letters = 0
            while letters < 20_000 {
                pieces.append(String(repeating: "a", count: Int.random(in: 1...9, using: &random)))
                letters += pieces[pieces.count - 1].count
            }
            let text = pieces.joined()
            let outcome = run(pieces + [ending, "x"], [stop])
            #expect(outcome.stop == (ending == "b" ? stop : nil))
            #expect(outcome.shown == (ending == "b" ? String(text.dropLast(5000)) : text + ending + "x"))
        }
    }

    @Test func agreesWithAPlainSearchOnRandomTexts() {
        var random = SeededGenerator(seed: 11)
        for _ in 0..<5000 {
            let letters = Array("aab\né")
            func word(_ length: ClosedRange<Int>) -> String {
                String(
                    (0..<Int.random(in: length, using: &random)).map { _ in letters.randomElement(using: &random) ?? "a"
                    })
            }
            let stops = (0..<Int.random(in: 1...3, using: &random)).map { _ in word(1...4) }
            let text = word(0...20)
            var pieces: [String] = []
            var rest = text.unicodeScalars[...]
            while !rest.isEmpty {
                let count = Int.random(in: 1...4, using: &random)
                pieces.append(String(rest.prefix(count)))
                rest = rest.dropFirst(count)
            }
            #expect(run(pieces, stops) == Self.expected(text, stops), "\(text.debugDescription) \(stops)")
        }
    }
}

@Suite struct AnswerReaderTests {
    /// The output of some bytes.
    struct Output: Equatable {
        var thinking = ""
        var text = ""
        var stop: String?
        var dropped = 0
        var longestHold = 0
    }

    static func read(_ pieces: [ArraySlice<UInt8>], stops: [String] = [], opened: ThinkingTags? = nil) -> Output {
        var reader = AnswerReader(stopStrings: stops, openedByPrompt: opened)
        var output = Output()
        func take(_ event: GenerationEvent) {
            switch event {
            case .thinking(let piece): output.thinking += piece
            case .text(let piece): output.text += piece
            default: break
            }
        }
        for piece in pieces { piece.withUnsafeBytes { reader.append($0, take) } }
        reader.finish(take)
        output.stop = reader.matchedStop
        output.dropped = reader.droppedBytes
        return output
    }

    static let samples = [
        "Hello, world", "naïve café — “quotes” …", "Привет, мир", "你好，世界。", "こんにちは世界", "안녕하세요", "مرحبا بالعالم",
        "नमस्ते दुनिया",
        "שלום עולם", "👩‍👩‍👧‍👦 🏳️‍🌈 🇩🇪 👍🏽", "e\u{301}a\u{308}", "𝔘𝔫𝔦𝔠𝔬𝔡𝔢", "<b>bold</b> <tag> </tag", "```swift\nlet x = 1\n```",
        "line\n\n  line\t",
        "\u{FEFF}\u{200B}\u{10FFFF}\u{7FF}\u{800}",
    ]

    /// Cuts bytes at random places, mostly into pieces as short as tokens.
    static func cut(_ bytes: [UInt8], _ random: inout SeededGenerator) -> [ArraySlice<UInt8>] {
        var pieces: [ArraySlice<UInt8>] = []
        var rest = bytes[...]
        let most = [1, 2, 3, 5, 17, 64].randomElement(using: &random) ?? 1
        while !rest.isEmpty {
            let count = Int.random(in: 1...most, using: &random)
            pieces.append(rest.prefix(count))
            rest = rest.dropFirst(count)
        }
        return pieces
    }

    /// Ten thousand cuts of multilingual text with thinking, at any byte: no text is lost, doubled or replaced.
    @Test func isTheSameHoweverItIsCut() throws {
        var random = SeededGenerator(seed: 2026)
        var cuts = 0
        var runs = 0
        while cuts < 10_000 {
            func some(_ count: ClosedRange<Int>) -> String {
                (0..<Int.random(in: count, using: &random)).compactMap { _ in Self.samples.randomElement(using: &random)
                }
                .joined(separator: " ")
            }
            let thinking = "x" + some(0...4) + "y"
            let answer = "z" + some(0...6)
            let shape = Int.random(in: 0...3, using: &random)
            // Tables test text with fences; here the parts are known beforehand.
            let plain = thinking.replacing("```", with: "``")
            let (output, expected): (String, Output) =
                switch shape {
                case 0: (answer, Output(text: answer))
                case 1: ("<think>\n\(plain)\n</think>\n\n\(answer)", Output(thinking: plain, text: answer))
                case 2: ("\n <think>\(plain)", Output(thinking: plain))
                default: ("\(plain)</think>\(answer)", Output(thinking: plain, text: answer))
                }
            let pieces = Self.cut(Array(output.utf8), &random)
            cuts += pieces.count - 1
            runs += 1
            let found = Self.read(pieces, opened: shape == 3 ? .think : nil)
            try #require(found == expected, "\(output.debugDescription)")
            try #require(!(found.thinking + found.text).unicodeScalars.contains("\u{FFFD}"))
        }
        #expect(runs > 50)
    }

    /// Any text with fences and marks anywhere: the cuts make no difference.
    @Test func isTheSameAsInOnePieceForAnyText() throws {
        var random = SeededGenerator(seed: 7)
        let parts = [
            "<think>", "</think>", "<think", "</thin", "k>", "```", "~~~~", "\n", "\n\n", " ", "a", "é", "🤔", "STOP",
            "ST", "x\n```\n", "`",
        ]
        for _ in 0..<3000 {
            let text = (0..<Int.random(in: 1...25, using: &random)).compactMap { _ in
                parts.randomElement(using: &random)
            }
            .joined()
            let opened: ThinkingTags? = Bool.random(using: &random) ? .think : nil
            let whole = Self.read([Array(text.utf8)[...]], stops: ["STOP"], opened: opened)
            let found = Self.read(Self.cut(Array(text.utf8), &random), stops: ["STOP"], opened: opened)
            try #require(found == whole, "\(text.debugDescription)")
        }
    }

    @Test func looksForStopStringsInTheAnswerOnly() {
        let output = Self.read([Array("<think>END a</think>b END c".utf8)[...]], stops: ["END"])
        #expect(output == Output(thinking: "END a", text: "b ", stop: "END"))
    }

    @Test func dropsBytesOfNoCharacter() {
        let bytes: [UInt8] = [0x61, 0xFF, 0xC3, 0x62, 0xE2, 0x82]
        #expect(Self.read([bytes[...]]) == Output(text: "ab", dropped: 4))
    }
}
