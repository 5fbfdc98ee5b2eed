import Foundation
import HearthBase

/// The values of a `config.json`, each checked when it is read. A model of several parts has its text half under
/// `text_config`, whose values come first.
struct ModelConfiguration: Sendable {
    /// The file's name in messages.
    static let fileName = "config.json"
    /// The most bytes of the file.
    static let maximumByteCount = 4 << 20

    /// The type of the whole model, such as `llama` or `gemma3`.
    let modelType: String
    /// Whether the model has parts besides its text half.
    let hasOtherParts: Bool
    private let members: JSONMembers

    /// Reads a configuration.
    /// - Throws: ``ImportError`` with `damaged`.
    init(parsing data: Data) throws(ImportError) {
        guard data.count <= Self.maximumByteCount else {
            throw .damaged("it is too large", file: Self.fileName, found: "\(data.count) bytes")
        }
        var root: JSONMembers?
        do {
            root = try JSONValue(parsing: data).members
        } catch {
            throw .damaged("it is no JSON", file: Self.fileName, found: "\(error)")
        }
        guard let root else { throw .damaged("it is no object", file: Self.fileName) }
        guard let type = root["model_type"]?.string, !type.isEmpty else {
            throw .incompatible("\(Self.fileName) names no model type", file: Self.fileName, field: "model_type")
        }
        modelType = type
        let text = root["text_config"]?.members
        hasOtherParts = text != nil || root["vision_config"]?.members != nil
        members = text.map { $0.after(root) } ?? root
    }

    /// The configuration of another part, such as `vision_config`; `nil` if there is no such part.
    func part(_ key: String) -> ModelConfiguration? {
        self[key]?.members.map { ModelConfiguration(modelType: modelType, hasOtherParts: true, members: $0) }
    }

    private init(modelType: String, hasOtherParts: Bool, members: JSONMembers) {
        (self.modelType, self.hasOtherParts, self.members) = (modelType, hasOtherParts, members)
    }

    /// A value, `nil` if it is absent or `null`.
    subscript(key: String) -> JSONValue? {
        guard let value = members[key], value != .null else { return nil }
        return value
    }

    /// A whole number in a range.
    func integer(_ key: String, in range: ClosedRange<Int>, default other: Int? = nil) throws(ImportError) -> Int {
        guard let value = self[key] else {
            guard let other else { throw damaged(key, "a value is missing") }
            return other
        }
        guard case .number(let digits) = value, let number = Int(digits), range.contains(number) else {
            throw damaged(key, "a value is out of range", expected: "\(range.lowerBound) to \(range.upperBound)", value)
        }
        return number
    }

    /// A positive finite number.
    func positive(_ key: String, default other: Double? = nil) throws(ImportError) -> Double {
        guard let value = self[key] else {
            guard let other else { throw damaged(key, "a value is missing") }
            return other
        }
        guard let number = value.positive else { throw damaged(key, "a value is out of range", value) }
        return number
    }

    /// Whether a value is `true`; `nil` if it is absent.
    func flag(_ key: String) throws(ImportError) -> Bool? {
        guard let value = self[key] else { return nil }
        guard let flag = value.flag else { throw damaged(key, "a value is neither true nor false", value) }
        return flag
    }

    /// The error for a value of the file.
    func damaged(
        _ key: String, _ problem: String, expected: String? = nil, _ found: JSONValue? = nil
    ) -> ImportError {
        .damaged(problem, file: Self.fileName, field: key, expected: expected, found: found?.kind)
    }

    /// The error for a value that this version cannot import.
    func unsupported(_ key: String, _ what: String, expected: String? = nil) -> ImportError {
        .incompatible(
            "a model of type \(modelType.quoted) with \(what) cannot be imported", file: Self.fileName, field: key,
            expected: expected, found: self[key]?.kind)
    }
}

extension JSONValue {
    /// A positive finite number.
    var positive: Double? {
        guard case .number(let digits) = self, let number = Double(digits), number.isFinite, number > 0 else {
            return nil
        }
        return number
    }
}
