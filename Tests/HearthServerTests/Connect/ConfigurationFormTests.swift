import Foundation
import HearthBase
import Testing

@testable import HearthServer

/// Changes of texts keep every other byte.
@Suite struct ConfigurationFormTests {
    struct Case: Sendable, CustomTestStringConvertible {
        var form: ConfigurationForm
        var before: String
        var path: [ConfigurationStep]
        var value: JSONValue?
        var after: String

        var testDescription: String {
            "\(form) \(path.map(\.description).joined(separator: ".")) in \(before.debugDescription)"
        }

        init(_ form: ConfigurationForm, _ before: String, _ path: String, _ value: JSONValue?, _ after: String) {
            (self.form, self.before, self.value, self.after) = (form, before, value, after)
            self.path = path.split(separator: ".").map { word in
                let parts = word.split(separator: "=")
                return parts.count == 2 ? .item(key: String(parts[0]), value: String(parts[1])) : .key(String(word))
            }
        }
    }

    static let json: [Case] = [
        Case(.json, "", "a.b", 1, "{\n  \"a\": {\n    \"b\": 1\n  }\n}\n"),
        Case(.json, "\n", "a", true, "\n{\n  \"a\": true\n}\n"),
        Case(.json, "{}", "a", "x", "{\n  \"a\": \"x\"\n}"),
        Case(.json, "{ }\n", "a", "x", "{\n  \"a\": \"x\"\n }\n"),
        Case(.json, "{\"a\":1}", "b", 2, "{\"a\":1,\"b\":2}"),
        Case(.json, "{ \"a\": 1 }", "b", ["c": 2], "{ \"a\": 1, \"b\": {\"c\":2} }"),
        Case(.json, "{\n    \"a\": 1 // one\n}\n", "b", 2, "{\n    \"a\": 1, // one\n    \"b\": 2\n}\n"),
        Case(.json, "{\n\t\"a\": 1,\n}\n", "b", 2, "{\n\t\"a\": 1,\n\t\"b\": 2,\n}\n"),
        Case(.json, "{\n  \"a\": 1\n  /* } */ }", "b", 2, "{\n  \"a\": 1,\n  /* } */\n  \"b\": 2\n }"),
        Case(.json, "{\r\n  \"a\": 1\r\n}\r\n", "b", 2, "{\r\n  \"a\": 1,\r\n  \"b\": 2\r\n}\r\n"),
        Case(.json, "\u{FEFF}{\"a\":1}", "a", 3, "\u{FEFF}{\"a\":3}"),
        Case(
            .json, "{\n  \"env\": {\n    // mine\n    \"A\": \"1\"\n  },\n  \"z\": 0\n}\n", "env.B", "2",
            "{\n  \"env\": {\n    // mine\n    \"A\": \"1\",\n    \"B\": \"2\"\n  },\n  \"z\": 0\n}\n"),
        Case(.json, "{\n  \"a\": 1,\n  \"b\": 2\n}\n", "b", nil, "{\n  \"a\": 1\n}\n"),
        Case(.json, "{\n  \"a\": 1,\n  \"b\": 2\n}\n", "a", nil, "{\n  \"b\": 2\n}\n"),
        Case(.json, "{\n  \"a\": 1, // x\n  \"b\": 2\n}\n", "b", nil, "{\n  \"a\": 1 // x\n}\n"),
        Case(.json, "{\"a\":1,\"b\":2}", "b", nil, "{\"a\":1}"),
        Case(.json, "{\"a\":1, \"b\":2}", "a", nil, "{\"b\":2}"),
        Case(.json, "{\"a\":1}", "a", nil, "{}"),
        Case(
            .json, "{\"m\": [\n  {\"t\": \"x\"}\n]}", "m.t=y", ["t": "y"],
            "{\"m\": [\n  {\"t\": \"x\"},\n  {\n    \"t\": \"y\"\n  }\n]}"),
        Case(.json, "{\"m\":[{\"t\":\"x\",\"k\":1}]}", "m.t=x", ["t": "x"], "{\"m\":[{\"t\":\"x\"}]}"),
        Case(.json, "{\"a/b\":\"\\u00e9//\"}", "c", "//", "{\"a/b\":\"\\u00e9//\",\"c\":\"//\"}"),
        Case(.json, "// only a comment", "a", 1, "// only a comment\n{\n  \"a\": 1\n}\n"),
    ]

    static let toml: [Case] = [
        Case(.toml, "", "model", "m", "model = \"m\"\n"),
        Case(.toml, "# head\n\n[t]\na = 1\n", "model", "m", "# head\n\nmodel = \"m\"\n\n[t]\na = 1\n"),
        Case(.toml, "[t]\na = 1\n", "model", "m", "model = \"m\"\n\n[t]\na = 1\n"),
        Case(.toml, "model = 'old' # why\nx = 1\n", "model", "m", "model = \"m\" # why\nx = 1\n"),
        Case(.toml, "x = [\n  1, # one\n  2,\n]\n", "model", "m", "x = [\n  1, # one\n  2,\n]\nmodel = \"m\"\n"),
        Case(
            .toml, "x = \"\"\"\nmodel = 'no'\n\"\"\"", "model", "m", "x = \"\"\"\nmodel = 'no'\n\"\"\"\nmodel = \"m\"\n"
        ),
        Case(.toml, "x = 1", "p.h", ["n": "a", "w": 2], "x = 1\n\n[p.h]\nn = \"a\"\nw = 2\n"),
        Case(.toml, "x = 1\r\n", "p.h.n", "a", "x = 1\r\n\r\n[p.h]\r\nn = \"a\"\r\n"),
        Case(.toml, "[p.h]\nn = \"b\"\n\n[q]\n", "p.h", ["n": "a", "w": 2], "[p.h]\nn = \"a\"\nw = 2\n\n[q]\n"),
        Case(.toml, "[p]\nh.n = 1\n", "p.h.w", 2, "[p]\nh.n = 1\nh.w = 2\n"),
        Case(.toml, "p.h.n = 1\n[q]\n", "p.h.w", 2, "p.h.n = 1\np.h.w = 2\n[q]\n"),
        Case(
            .toml, "[projects.\"/home/a.b\"]\ntrust = \"yes\"\n", "model", "m",
            "model = \"m\"\n\n[projects.\"/home/a.b\"]\ntrust = \"yes\"\n"),
        Case(.toml, "a = 1\nmodel = \"m\"\nb = 2\n", "model", nil, "a = 1\nb = 2\n"),
        Case(.toml, "a = 1\n\n[p.h]\n", "p.h", nil, "a = 1\n"),
        Case(.toml, "[[s]]\na = 1\n[[s]]\na = 2\n", "p.n", 1, "[[s]]\na = 1\n[[s]]\na = 2\n\n[p]\nn = 1\n"),
    ]

    static let yaml: [Case] = [
        Case(.yaml, "", "model", "openai/m", "model: openai/m\n"),
        Case(.yaml, "# sample\n#model: x", "model", "a:b", "# sample\n#model: x\nmodel: a:b\n"),
        Case(.yaml, "model: gpt # mine\nauto: true\n", "model", "openai/m", "model: openai/m # mine\nauto: true\n"),
        Case(.yaml, "model:\nauto: true\n", "model", "m", "model: m\nauto: true\n"),
        Case(.yaml, "\"model\": 'a''b'\n", "model", "yes", "\"model\": \"yes\"\n"),
        Case(
            .yaml, "text: |\n  model: no\n\n  more\nlist: [a, 'b]']\n", "model", "m",
            "text: |\n  model: no\n\n  more\nlist: [a, 'b]']\nmodel: m\n"),
        Case(
            .yaml, "name: x\nmodels:\n  - name: a\n    roles: [chat]\n# end\nrules: []\n", "models.name=b",
            ["name": "b", "roles": ["chat"]],
            "name: x\nmodels:\n  - name: a\n    roles: [chat]\n  - name: b\n    roles:\n      - chat\n# end\nrules: []\n"
        ),
        Case(
            .yaml, "models:\n- name: a\nz: 1\n", "models.name=b", ["name": "b"], "models:\n- name: a\n- name: b\nz: 1\n"
        ),
        Case(
            .yaml, "models:\n- name: a\n  k: 1\n- name: b\n", "models.name=a", ["name": "a"],
            "models:\n- name: a\n- name: b\n"),
        Case(.yaml, "models: []\nz: 1\n", "models.name=b", ["name": "b"], "models:\n  - name: b\nz: 1\n"),
        Case(.yaml, "models:\nz: 1\n", "models.name=b", ["name": "b"], "models:\n  - name: b\nz: 1\n"),
        Case(.yaml, "", "id=x", ["id": "x", "k": 1], "- id: x\n  k: 1\n"),
        Case(.yaml, "- id: a\n  b: c", "id=x", ["id": "x"], "- id: a\n  b: c\n- id: x\n"),
        Case(.yaml, "- id: a\n- id: x\n  n: 1\n", "id=x", nil, "- id: a\n"),
        Case(.yaml, "models:\n  - name: b\nz: 1\n", "models.name=b", nil, "models: []\nz: 1\n"),
        Case(.yaml, "a: 1\r\nb:\r\n  c: d\r\n", "e", "f", "a: 1\r\nb:\r\n  c: d\r\ne: f\r\n"),
        Case(.yaml, "---\na: 1\n", "b", 2, "---\na: 1\nb: 2\n"),
        Case(.yaml, "base: &b\n  x: 1\nuse:\n  <<: *b\n", "c", 1, "base: &b\n  x: 1\nuse:\n  <<: *b\nc: 1\n"),
    ]

    @Test(arguments: json + toml + yaml)
    func everyOtherByteStays(example: Case) throws {
        let edit = ConfigurationEdit(example.path, example.value)
        let after = try example.form.applying([edit], to: Array(example.before.utf8))
        #expect(String(decoding: after, as: UTF8.self) == example.after)
        // The same change again changes nothing.
        #expect(try example.form.applying([edit], to: after) == after)
    }

    @Test(arguments: [
        (ConfigurationForm.json, "{\"a\": }"), (.json, "{\"a\": 1"), (.json, "[1, 2"), (.json, "{\"a\": 1} x"),
        (.json, "{\"a\": \"b}"), (.json, "{\"a\": 1, \"a\": 2}"), (.json, "/* no end"), (.json, "{'a': 1}"),
        (.json, "{\"a\": 1 \"b\": 2}"), (.json, "{,}"), (.json, "nope"), (.json, "{\"a\": \"\\x\"}"), (.json, "{\"a"),
        (.json, "{\"a\":\"\\"), (.toml, "a"), (.toml, "a ="), (.toml, "a = 1 b = 2"), (.toml, "[a"),
        (.toml, "a = \"x"), (.toml, "a = [1, 2"), (.toml, "a = 1\na = 2"), (.toml, "[a]\n[a]\n"),
        (.toml, "a = yes"), (.toml, "a = {b = 1"), (.toml, "= 1"), (.toml, "a = 1\n[a]\n"), (.toml, "a = \"\\q\""),
        (.toml, "a = '''"), (.toml, "[[a]]\n[a]\n"), (.yaml, "a: b: c"), (.yaml, "\ta: 1"), (.yaml, "a: 1\n   b: 2\n"),
        (.yaml, "a: \"x\n"), (.yaml, "a: [1, 2\n"), (.yaml, "a: 1\na: 2\n"), (.yaml, "a: 1\n- b\n"),
        (.yaml, "a:\n  - b\n c: 1\n"), (.yaml, "a: [1}\n"), (.yaml, "a: 1\nplain\n"), (.yaml, "a: @x\n"),
    ])
    func aBrokenTextIsSaidToBeBroken(form: ConfigurationForm, text: String) throws {
        let error = #expect(throws: ConfigurationTextError.self) {
            _ = try form.applying([ConfigurationEdit("z", value: 1)], to: Array(text.utf8))
        }
        #expect(error?.kind == .broken, "\(String(describing: error))")
    }

    @Test(arguments: [
        Case(.json, "{\"a\": 1}", "a.b", 2, ""), Case(.json, "[]", "a", 2, ""),
        Case(.json, "{\"a\": {}}", "a.k=v", [:], ""),
        Case(.toml, "p = {h = {n = 1}}\n", "p.h.w", 2, ""), Case(.toml, "[[p]]\nn = 1\n", "p.w", 2, ""),
        Case(.toml, "a = 1\n", "a.b", 2, ""), Case(.toml, "", "l.k=v", ["k": "v"], ""),
        Case(.yaml, "a: 1\n---\nb: 2\n", "c", 1, ""), Case(.yaml, "%YAML 1.2\n---\na: 1\n", "c", 1, ""),
        Case(.yaml, "? a\n: b\n", "c", 1, ""), Case(.yaml, "models: [{name: a}]\n", "models.name=b", ["name": "b"], ""),
        Case(.yaml, "model: |\n  x\n", "model", "m", ""),
        Case(.yaml, "models: *m\n", "models.name=b", ["name": "b"], ""),
        Case(.yaml, "- a\n", "b", 1, ""), Case(.yaml, "{a: 1}\n", "b", 1, ""),
    ])
    func whatCannotBeChangedSafelyIsLeft(example: Case) throws {
        let error = #expect(throws: ConfigurationTextError.self) {
            _ = try example.form.applying(
                [ConfigurationEdit(example.path, example.value)], to: Array(example.before.utf8))
        }
        #expect(error?.kind == .unsafe, "\(String(describing: error))")
    }

    @Test func otherBytesAreNoText() throws {
        for bytes: [UInt8] in [[0xFF, 0xFE, 0x7B, 0], [0x7B, 0xC3, 0x28, 0x7D], [0x7B, 0, 0x7D]] {
            for form in [ConfigurationForm.json, .toml, .yaml] {
                let error = #expect(throws: ConfigurationTextError.self) {
                    _ = try form.applying([ConfigurationEdit("a", value: 1)], to: bytes)
                }
                #expect(error?.kind == .broken)
            }
        }
    }

    @Test func deepNestingEndsInWords() {
        for (form, text) in [
            (ConfigurationForm.json, String(repeating: "[", count: 100_000)),
            (.toml, "a = " + String(repeating: "[", count: 100_000)),
            (.yaml, String(repeating: "- ", count: 100_000)), (.yaml, "a: " + String(repeating: "[", count: 100_000)),
        ] {
            #expect(throws: ConfigurationTextError.self) {
                _ = try form.applying([ConfigurationEdit("z", value: 1)], to: Array(text.utf8))
            }
        }
    }

    /// Texts cut at every byte are changed rightly or refused, and never half.
    @Test(arguments: json + toml + yaml)
    func aCutTextIsNeverHarmed(example: Case) throws {
        let bytes = Array(example.before.utf8)
        for count in 0...bytes.count {
            let cut = Array(bytes[..<count])
            guard let value = try? example.form.value(of: cut),
                let after = try? example.form.applying([ConfigurationEdit("zz", value: "new")], to: cut)
            else { continue }
            var expected = value == .null ? JSONMembers() : value.members ?? [:]
            expected["zz"] = "new"
            #expect(try example.form.value(of: after) == .object(expected))
        }
    }
}
