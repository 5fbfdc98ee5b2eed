import Foundation
import Testing

@testable import HearthCommand

/// `docs/errors.md` and the source list the same codes, so that every code has a cause and a cure.
@Suite struct ErrorDocumentationTests {
    /// A domain as the source declares it: the codes by their Swift names.
    private struct Domain {
        var codes: [String: String] = [:]
    }

    private static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    private static func sources() throws -> [String] {
        let folder = root.appending(path: "Sources")
        let files = FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil)
        var texts: [String] = []
        while let file = files?.nextObject() as? URL {
            guard file.pathExtension == "swift" else { continue }
            let text = try String(contentsOf: file, encoding: .utf8)
            // An expression takes seconds for all files.
            guard text.contains("= HearthError<") || text.contains("extension ErrorCode<") else { continue }
            // Documentation comments hold examples, which are not declarations.
            let lines = text.split(separator: "\n")
            texts.append(lines.filter { !$0.drop { $0 == " " }.hasPrefix("//") }.joined(separator: "\n"))
        }
        return texts
    }

    /// Every domain of the source, by the name of its error: `StoreError`, `FileError`, …
    private static let domains = Result { try readDomains() }

    private static func declared() throws -> [String: Domain] { try domains.get() }

    private static func readDomains() throws -> [String: Domain] {
        var domains: [String: Domain] = [:]
        let texts = try sources()
        let aliases = texts.flatMap { $0.matches(of: /typealias (\w+) = HearthError<(\w+)>/) }
        let names = Dictionary(uniqueKeysWithValues: aliases.map { (String($0.2), String($0.1)) })
        func error(of domain: Substring) throws -> String { try #require(names[String(domain)], "\(domain)") }
        for text in texts {
            for match in text.matches(of: /extension ErrorCode<(\w+)> \{(.*?)\n\s*\}/.dotMatchesNewlines()) {
                for code in String(match.2).matches(of: /static var (\w+): Self \{ "([^"]+)" \}/) {
                    domains[try error(of: match.1), default: Domain()].codes[String(code.1)] = String(code.2)
                }
            }
        }
        return domains
    }

    /// The rows of the document, by the heading they stand below.
    private static func documented() throws -> [String: [String: (cause: String, cure: String)]] {
        let text = try String(contentsOf: root.appending(path: "docs/errors.md"), encoding: .utf8)
        var heading = ""
        var rows: [String: [String: (cause: String, cure: String)]] = [:]
        for line in text.split(separator: "\n") {
            if let match = line.wholeMatch(of: /## .*`(\w+)`.*/) { heading = String(match.1) }
            guard let match = line.wholeMatch(of: /\| `([a-z0-9-]+)` \|(.*)\|(.*)\|/) else { continue }
            let row = (String(match.2).trimmed, String(match.3).trimmed)
            #expect(rows[heading]?[String(match.1)] == nil, "\(heading) lists \(match.1) twice")
            rows[heading, default: [:]][String(match.1)] = row
        }
        return rows
    }

    @Test func everyCodeHasACauseAndACure() throws {
        let declared = try Self.declared()
        let documented = try Self.documented()
        #expect(declared.count >= 7, "the search for codes has lost its way")
        for (name, domain) in declared {
            for code in domain.codes.values.sorted() {
                guard let row = documented[name]?[code] else {
                    Issue.record("docs/errors.md lacks \(name) \(code)")
                    continue
                }
                #expect(!row.cause.isEmpty && !row.cure.isEmpty, "\(name) \(code) lacks its cause or its cure")
            }
        }
        for (name, rows) in documented {
            let known = Set(declared[name]?.codes.values.map { $0 } ?? [])
            for code in rows.keys.sorted() where !known.contains(code) {
                Issue.record("docs/errors.md lists \(name) \(code), which the source does not have")
            }
        }
    }

    @Test func everyCodeWithWordsOfTheCommandLineExists() throws {
        let known = Set(try Self.declared().values.flatMap(\.codes.values))
        for key in CommandRemedy.words.keys {
            #expect(known.contains(String(key.prefix { $0 != "/" })), "the source has no code of \(key)")
        }
    }

    @Test func codesAreKebabCaseAndUnique() throws {
        for (name, domain) in try Self.declared() {
            #expect(Set(domain.codes.values).count == domain.codes.count, "\(name) uses a code twice")
            for code in domain.codes.values {
                #expect(code.wholeMatch(of: /[a-z0-9]+(-[a-z0-9]+)*/) != nil, "\(code) is no kebab-case code")
            }
        }
    }
}

extension String {
    fileprivate var trimmed: String { trimmingCharacters(in: .whitespaces) }
}
