import Foundation
import HearthBase
import HearthInference

/// A preset as a text of lines: `FROM`, `SYSTEM`, `PARAMETER` and `MESSAGE`, as in Ollama's Modelfile.
package enum PresetText {
    /// Reads a text.
    /// - Throws: ``APIFailure`` with the line.
    package static func preset(_ name: String, _ text: String) throws(APIFailure) -> Preset {
        guard text.utf8.count <= Preset.maximumBytes else {
            throw APIFailure(.tooLarge, "a preset has at most \(Preset.maximumBytes) bytes")
        }
        var model: String?
        var system = ""
        var parameters: JSONMembers = [:]
        var messages: [Preset.Message] = []
        var reader = LineReader(text)
        while let (word, rest, line) = try reader.next() {
            func wrong(_ problem: String) -> APIFailure {
                APIFailure(.invalid, "line \(line): \(problem)", field: word)
            }
            switch word.uppercased() {
            case "FROM": model = rest
            case "SYSTEM": system = rest
            case "PARAMETER":
                let parts = rest.split(maxSplits: 1, whereSeparator: \.isWhitespace).map(String.init)
                guard parts.count == 2 else { throw wrong("a parameter has a name and a value") }
                let value = LineReader.unquoted(parts[1].trimmed)
                if parts[0] == "stop" {
                    parameters["stop"] = .array((parameters["stop"]?.items ?? []) + [.string(value)])
                } else {
                    let number = try? JSONValue(parsing: value)
                    parameters[parts[0]] = number?.number == nil ? .string(value) : number
                }
            case "MESSAGE":
                let parts = rest.split(maxSplits: 1, whereSeparator: \.isWhitespace).map(String.init)
                guard parts.count == 2, let role = ChatRole(rawValue: parts[0].lowercased()), role != .tool else {
                    throw wrong("a message has a role (system, user or assistant) and a text")
                }
                messages.append(Preset.Message(role: role, text: LineReader.unquoted(parts[1].trimmed)))
            case "LICENSE", "REQUIRES": continue
            case "TEMPLATE", "ADAPTER":
                throw APIFailure(
                    .notServed, "line \(line): \(word.uppercased()) is not served: a model has its own", field: word)
            default: throw wrong("\(word.quoted) is not one of FROM, SYSTEM, PARAMETER, MESSAGE")
            }
        }
        guard let model else { throw APIFailure(.invalid, "FROM is missing", field: "FROM") }
        return try Preset(name, model: model, system: system, parameters: parameters, messages: messages)
    }

    /// A preset as such a text.
    package static func text(_ preset: Preset) -> String {
        var lines = ["FROM \(preset.model)"]
        if !preset.system.isEmpty { lines.append("SYSTEM \(quoted(preset.system))") }
        lines += parameters(preset).map { "PARAMETER \($0)" }
        lines += preset.messages.map { "MESSAGE \($0.role.rawValue) \(quoted($0.text))" }
        return lines.joined(separator: "\n") + "\n"
    }

    /// The parameters as lines of a name and a value.
    static func parameters(_ preset: Preset) -> [String] {
        preset.parameters.flatMap { key, value in
            (value.items ?? [value]).map { "\(key) \($0.string.map { quoted($0) } ?? $0.line)" }
        }
    }

    private static func quoted(_ text: String) -> String {
        let isPlain = !text.contains { $0.isNewline || $0 == "\"" } && text.trimmed == text && !text.isEmpty
        return isPlain ? text : "\"\"\"\(text)\"\"\""
    }
}

/// Reads lines of a word and a value, which may go on over several lines between three quotation marks.
private struct LineReader {
    private var lines: ArraySlice<Substring>
    private var number = 0

    init(_ text: String) {
        lines = text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)[...]
    }

    mutating func next() throws(APIFailure) -> (word: String, rest: String, line: Int)? {
        while let line = lines.popFirst() {
            number += 1
            let text = String(line).trimmed
            if text.isEmpty || text.hasPrefix("#") { continue }
            let begin = number
            let parts = text.split(maxSplits: 1, whereSeparator: \.isWhitespace).map(String.init)
            guard parts.count == 2 else {
                throw APIFailure(.invalid, "line \(begin): \(parts[0].quoted) has no value", field: parts[0])
            }
            var value = parts[1].trimmed
            if let open = value.range(of: "\"\"\""), !value[open.upperBound...].contains("\"\"\"") {
                while !value[open.upperBound...].contains("\"\"\"") {
                    guard let more = lines.popFirst() else {
                        throw APIFailure(.invalid, "line \(begin): a text has no end", field: parts[0])
                    }
                    number += 1
                    value += "\n" + more
                }
            }
            let keeps = ["PARAMETER", "MESSAGE"].contains(parts[0].uppercased())
            return (parts[0], keeps ? value : Self.unquoted(value.trimmed), begin)
        }
        return nil
    }

    /// A text without the quotation marks around it.
    static func unquoted(_ text: String) -> String {
        for mark in ["\"\"\"", "\""] where text.hasPrefix(mark) && text.hasSuffix(mark) && text.count >= 2 * mark.count
        {
            return String(text.dropFirst(mark.count).dropLast(mark.count))
        }
        return text
    }
}
