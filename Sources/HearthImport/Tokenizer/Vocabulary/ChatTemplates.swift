import Foundation
import HearthBase

/// The chat templates of a model folder.
struct ChatTemplates: Sendable {
    /// The template for conversations; `nil` if the folder has none.
    private(set) var main: String?
    /// Templates for other purposes, such as `tool_use`, by their names.
    private(set) var others: [(name: String, text: String)] = []

    /// - Parameters:
    ///   - configuration: `tokenizer_config.json`.
    ///   - file: `chat_template.jinja` or `chat_template.json`.
    /// - Throws: `damaged`.
    init(configuration: JSONValue, file: Data?) throws(ImportError) {
        if let file {
            guard file.count <= Self.maximumBytes, let text = String(validating: file, as: UTF8.self)
            else {
                throw .damaged("it is too large, or not UTF-8", file: "chat_template")
            }
            // A template in JSON is an object with one member; no template in Jinja is valid JSON.
            take((try? JSONValue(parsing: file))?["chat_template"] ?? .string(text))
        }
        if main == nil { take(configuration["chat_template"] ?? .null) }
        guard main?.utf8.count ?? 0 <= Self.maximumBytes else {
            throw .damaged("its chat template is too large", file: "tokenizer_config.json", field: "chat_template")
        }
    }

    /// The bytes of a template; known ones have up to 30 KB.
    private static let maximumBytes = 1 << 20
    /// The templates for other purposes; known models have up to three.
    private static let maximumOthers = 16

    private mutating func take(_ value: JSONValue) {
        if let text = value.string { main = text }
        for item in value.items ?? [] {
            guard let name = item["name"]?.string, let text = item["template"]?.string else { continue }
            if name == "default" {
                main = text
            } else if Self.isName(name), others.count < Self.maximumOthers, !others.contains(where: { $0.name == name })
            {
                others.append((name, text))
            }
        }
    }

    /// The name becomes a part of a key in the GGUF file.
    private static func isName(_ name: String) -> Bool {
        (1...64).contains(name.utf8.count)
            && name.utf8.allSatisfy {
                (97...122).contains($0) || (65...90).contains($0) || (48...57).contains($0) || $0 == 95 || $0 == 45
            }
    }
}
