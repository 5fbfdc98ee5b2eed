// A language and a size of text in which a view is shown, and what holds of every view.
import Foundation
import SwiftUI
import Testing

/// A language and a size of text, in which a view is shown.
struct Look: Sendable, CustomTestStringConvertible {
    var language: String
    var size: DynamicTypeSize

    static let all: [Look] = ["en", "de"].flatMap { language in
        [DynamicTypeSize.large, .accessibility3].map { Look(language: language, size: $0) }
    }
    static let english = Look(language: "en", size: .large)

    var testDescription: String { "\(language) \(size)" }
    private var isGerman: Bool { language == "de" }

    /// The layout of views beside each other.
    var row: String { size.isAccessibilitySize ? "vstack" : "hstack" }

    /// A text of the page, with values in place of its `{names}`.
    subscript(_ key: String, _ values: KeyValuePairs<String, String> = [:]) -> String {
        guard let text = PageWords.of(language)[key] else {
            Issue.record("the page has no text \(key)")
            return key
        }
        return values.reduce(text) { $0.replacingOccurrences(of: "{\($1.key)}", with: $1.value) }
    }

    /// The text of the one or the other language.
    func callAsFunction(_ english: String, _ german: String) -> String { isGerman ? german : english }

    /// A number with its decimal sign.
    func number(_ text: String) -> String { isGerman ? text.replacingOccurrences(of: ".", with: ",") : text }

    @MainActor func show(_ view: some View) -> ViewTree {
        ViewTree(view, locale: isGerman ? "de_DE" : "en_US", size: size)
    }

    /// Checks a tree, whatever it shows: each element has a name, and each word is of this language.
    @MainActor func expectGood(_ tree: ViewTree, sourceLocation: SourceLocation = #_sourceLocation) {
        let flaws = namelessElements(tree.root) + PageWords.foreign(tree.strings, language)
        #expect(flaws == [], "\(tree.root.outline())", sourceLocation: sourceLocation)
    }
}

/// The texts of the page, read from its files.
enum PageWords {
    private static let words = Dictionary(
        uniqueKeysWithValues: ["en", "de"].map { language in
            (
                language,
                ["", "models-", "forms-", "answer-", "read-"].reduce(into: [String: String]()) { all, part in
                    all.merge(read("\(part)\(language)")) { $1 }
                }
            )
        })

    static func of(_ language: String) -> [String: String] { words[language] ?? [:] }

    /// The sentences of failures in German, by code.
    static let refusals = read("refusals-de")

    private static func read(_ name: String) -> [String: String] {
        guard let source = try? String(contentsOfFile: "Sources/CPage/page/texts/\(name).js", encoding: .utf8) else {
            return [:]
        }
        var found: [String: String] = [:]
        for match in source.matches(of: #/("(?:[^"\\]|\\.)*"):\s*("(?:[^"\\]|\\.)*")/#) {
            let pair = [match.1, match.2].compactMap {
                try? JSONDecoder().decode(String.self, from: Data($0.utf8))
            }
            if pair.count == 2 { found[pair[0]] = pair[1] }
        }
        return found
    }

    /// Texts of the other language, by what they match.
    private static let patterns: [String: [(text: String, NSRegularExpression)]] = Dictionary(
        uniqueKeysWithValues: [("en", "de"), ("de", "en")].map { own, other in
            let texts = of(other).filter { $1 != of(own)[$0] }.values
            return (
                own,
                texts.compactMap { text in
                    let parts = text.components(separatedBy: #/\{[a-z]+\}/#).map(NSRegularExpression.escapedPattern)
                    guard parts.joined().filter(\.isLetter).count > 3 else { return nil }
                    let pattern = "^\(parts.joined(separator: ".*"))$"
                    return (try? NSRegularExpression(pattern: pattern)).map { (text, $0) }
                }
            )
        })

    /// The strings that are keys, have places without values, or are words of the other language.
    static func foreign(_ strings: [String], _ language: String) -> [String] {
        let own = Set(of(language).values)
        return strings.flatMap { string -> [String] in
            if string.contains(#/\{[a-z]+\}/#) { return ["no value: \(string)"] }
            if of(language)[string] != nil || string.contains(#/^[a-z]+(\.[a-z-]+)+$/#) { return ["a key: \(string)"] }
            return string.components(separatedBy: ", ").flatMap { part -> [String] in
                if own.contains(part) { return [] }
                let range = NSRange(part.startIndex..., in: part)
                return (patterns[language] ?? []).filter { $0.1.firstMatch(in: part, range: range) != nil }
                    .map { "of the other language: \(part), as “\($0.text)”" }
            }
        }
    }
}

extension String {
    fileprivate func components(separatedBy pattern: some RegexComponent) -> [String] {
        split(separator: pattern, omittingEmptySubsequences: false).map(String.init)
    }
}

/// The elements that VoiceOver stops at and has no name for.
@MainActor private func namelessElements(_ node: TreeNode) -> [String] {
    if node.isHidden { return [] }
    let isControl = ["button", "toggle", "field", "progress", "link", "picker"].contains(node.kind)
    if isControl || node.label != nil, node.kind != "section" {
        // A container with a name has elements of its own.
        let below = isControl ? [] : node.children.flatMap(namelessElements)
        return (node.name.isEmpty ? ["\(node.kind) has no name"] : []) + below
    }
    if node.kind == "image" { return ["the image \(node.text ?? "") is read by the name of its symbol"] }
    return node.children.flatMap(namelessElements)
}

extension ViewTree {
    /// All that is shown or spoken.
    var strings: [String] {
        root.all.flatMap { node in
            [node.kind == "image" ? nil : node.text, node.label, node.kind == "field" ? nil : node.value, node.hint]
                .compactMap(\.self)
        }
    }

    /// The button of that name.
    func button(_ name: String) -> TreeNode? { buttons.first { $0.name == name } }

    /// Reads the view until it shows what is waited for; the models change on threads of their own.
    func shows(_ condition: (ViewTree) -> Bool) async {
        while true {
            render()
            if condition(self) { return }
            await Task.yield()
        }
    }

    /// Reads the view until it has that text.
    func shows(_ text: String) async { await shows { $0.texts.contains(text) } }

    /// The kind of the smallest group that has the texts.
    func layout(of texts: String...) -> String? {
        root.all.last { node in texts.allSatisfy(node.texts.contains) && node.kind.hasSuffix("stack") }?.kind
    }
}
