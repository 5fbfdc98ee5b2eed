import Foundation
import HearthBase
import HearthCatalog
import Testing

/// A manifest that is no JSON is refused with line and column.
@Suite struct ManifestJSONTests {
    private func problem(_ text: String) throws -> String {
        try problem(Data(text.utf8))
    }

    private func problem(_ data: Data) throws -> String {
        let url = try #require(URL(string: "https://h.example/models.json"))
        return try #require(throws: CatalogError.self) { try Catalog(manifest: data, url: url) }.message
    }

    @Test(arguments: [
        ("{\"a\": 1,}", "column 9: a key in quotation marks"), ("{\"a\" 1}", "column 6: a colon"),
        ("{\"a\": 1 \"b\"}", "column 9: a comma or }"), ("{a: 1}", "column 2: a key"), ("{'a': 1}", "column 2: a key"),
        ("{\n\"a\": [1,\n  ]}", "line 3, column 3: a value"), ("{\"a\": [1 2]}", "a comma or ]"),
        ("{\"a\": 01}", "column 8: a comma or }"), ("{\"a\": .5}", "a value"), ("{\"a\": 5.}", "a digit"),
        ("{\"a\": +5}", "a value"), ("{\"a\": -}", "a digit"), ("{\"a\": 1e}", "a digit"), ("{\"a\": NaN}", "a value"),
        ("{\"a\": tru}", "a value"), ("{\"a\": \"\\x\"}", "an unknown escape"), ("{\"a\": \"", "has no end"),
        ("{\"a\": \"\\", "has no end"), ("{\"a\": \"\\u12\"}", "four hexadecimal digits"),
        ("{\"a\": \"\\u+123\"}", "four hexadecimal digits"), ("{\"a\": \"\\ud800\"}", "surrogate"),
        ("{\"a\": \"\\ud800\\u0041\"}", "surrogate"), ("{\"a\": \"\\udc00\"}", "surrogate"),
        ("{\"a\": \"\n\"}", "control character"), ("{} {}", "after the end"), ("{\"a\":", "ends in the middle"),
        ("{\"a\": 1, \"a\": 2}", "\"a\" appears twice"), ("{\"a\": {\"b\": 1, \"\\u0062\": 2}}", "\"b\" appears twice"),
        ("{/* a */}", "a key in quotation marks"),
    ])
    func saysWhereJSONIsWrong(_ text: String, _ part: String) throws {
        let problem = try problem(text)
        #expect(problem.contains("is not proper JSON: line "), "\(problem)")
        #expect(problem.contains(part), "\(problem)")
    }

    @Test func refusesBytesThatAreNotUTF8() throws {
        #expect(try problem(Data("{\"a\": \"".utf8) + [0xC3, 0x28] + Data("\"}".utf8)).contains("not UTF-8"))
        #expect(try problem(Data("{\"a\": \"".utf8) + [0xC0, 0x80] + Data("\"}".utf8)).contains("not UTF-8"))
        #expect(try problem(Data([0xFF, 0xFE, 0x7B, 0x00])).contains("is not proper JSON"))
    }

    @Test(arguments: ["[", "{\"a\":"])
    func refusesDepthInsteadOfCrashing(_ level: String) throws {
        let levels = Catalog.maximumManifestSize / level.utf8.count
        #expect(try problem(String(repeating: level, count: levels)).contains("deeper than 64"))
    }

    @Test func readsWhatIsAllowed() throws {
        let url = try #require(URL(string: "https://h.example/models.json"))
        let text =
            "\u{FEFF} {\"models\": [], \"é\": [\"\\ud83d\\ude00\\/\\b\\f\", -0.5e+10, 1E2, 0, true, false, null, {}]} \r\n"
        #expect(try Catalog(manifest: Data(text.utf8), url: url).releases.isEmpty)
    }

    @Test func writesEqualDocumentsAsEqualBytes() {
        let value = JSONValue.object([
            "b": .array([.integer(1), .array([]), .object([:])]), "a/b": .string("\"\\\n\u{1}é/"), "A": .null,
            "n": .number("9007199254740993"), "t": .boolean(true),
        ])
        #expect(
            String(decoding: value.data, as: UTF8.self) == #"""
                {
                  "A": null,
                  "a/b": "\"\\\n\u0001é/",
                  "b": [
                    1,
                    [],
                    {}
                  ],
                  "n": 9007199254740993,
                  "t": true
                }

                """#)
    }
}
