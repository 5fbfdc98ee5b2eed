import Foundation
import HearthBase

/// A JSON document to send: members keep their order, and texts that are JSON already are embedded unchanged.
package indirect enum JSONBody: Sendable {
    case null
    case string(String)
    case integer(Int)
    case number(Float)
    /// A number with the digits of a Double.
    case double(Double)
    case boolean(Bool)
    case array([JSONBody])
    case object([(key: String, value: JSONBody)])
    /// A text that is a JSON document.
    case json(String)
    /// A string of `prefix` and the bytes in base64.
    case base64([UInt8], prefix: String)

    /// The document without white space.
    var data: Data { Data(bytes) }

    /// The document without white space.
    package var bytes: [UInt8] {
        var bytes: [UInt8] = []
        write(to: &bytes)
        return bytes
    }

    private func write(to bytes: inout [UInt8]) {
        switch self {
        case .null: bytes += "null".utf8
        case .string(let text): bytes += JSONText.quoted(text)
        case .integer(let value): bytes += "\(value)".utf8
        // A Float's digits, not those of its nearest Double: 0.35, not 0.3499999940395355.
        case .number(let value): bytes += (value.isFinite ? "\(value)" : "0").utf8
        case .double(let value): bytes += (value.isFinite ? "\(value)" : "0").utf8
        case .boolean(let value): bytes += (value ? "true" : "false").utf8
        case .json(let text): bytes += text.utf8
        case .base64(let content, let prefix):
            bytes += JSONText.quoted(prefix).dropLast()
            bytes += Data(content).base64EncodedData()
            bytes.append(UInt8(ascii: "\""))
        case .array(let items):
            bytes.append(UInt8(ascii: "["))
            for (index, item) in items.enumerated() {
                if index > 0 { bytes.append(UInt8(ascii: ",")) }
                item.write(to: &bytes)
            }
            bytes.append(UInt8(ascii: "]"))
        case .object(let members):
            bytes.append(UInt8(ascii: "{"))
            for (index, member) in members.enumerated() {
                if index > 0 { bytes.append(UInt8(ascii: ",")) }
                bytes += JSONText.quoted(member.key)
                bytes.append(UInt8(ascii: ":"))
                member.value.write(to: &bytes)
            }
            bytes.append(UInt8(ascii: "}"))
        }
    }
}

extension JSONBody: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral, ExpressibleByBooleanLiteral,
    ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral
{
    package init(stringLiteral value: String) { self = .string(value) }
    package init(integerLiteral value: Int) { self = .integer(value) }
    package init(booleanLiteral value: Bool) { self = .boolean(value) }
    package init(arrayLiteral elements: JSONBody...) { self = .array(elements) }
    package init(dictionaryLiteral elements: (String, JSONBody)...) { self = .object(elements.map { ($0.0, $0.1) }) }

    /// Adds a member to an object; `nil` adds none.
    package subscript(key: String) -> JSONBody? {
        get {
            guard case .object(let members) = self else { return nil }
            return members.first { $0.key == key }?.value
        }
        set {
            guard case .object(var members) = self else { return }
            members.removeAll { $0.key == key }
            if let newValue { members.append((key, newValue)) }
            self = .object(members)
        }
    }

    /// A model's text that should be a JSON object: unchanged if it is one, else an empty object.
    package static func object(parsing text: String) -> JSONBody {
        guard case .object? = try? JSONValue(parsing: Data(text.utf8)) else { return [:] }
        return .json(text)
    }
}

/// Writes JSON on one line.
enum JSONText {
    /// A string in quotation marks.
    static func quoted(_ text: String) -> [UInt8] {
        var bytes: [UInt8] = [UInt8(ascii: "\"")]
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"):
                bytes.append(UInt8(ascii: "\\"))
                bytes.append(byte)
            case UInt8(ascii: "\n"): bytes += #"\n"#.utf8
            case 0..<0x20, 0x7F:
                let digits = String(byte, radix: 16)
                bytes += (#"\u00"# + (digits.count < 2 ? "0" : "") + digits).utf8
            default: bytes.append(byte)
            }
        }
        bytes.append(UInt8(ascii: "\""))
        return bytes
    }

    /// A document with sorted keys, as the arguments of a tool call.
    static func compact(_ value: JSONValue) -> String {
        switch value {
        case .null: "null"
        case .boolean(let value): value ? "true" : "false"
        case .number(let digits): digits
        case .string(let text): String(decoding: quoted(text), as: UTF8.self)
        case .array(let items): "[" + items.map(compact).joined(separator: ",") + "]"
        case .object(let members):
            "{"
                + members.sorted { $0.key < $1.key }
                .map { compact(.string($0.key)) + ":" + compact($0.value) }.joined(separator: ",") + "}"
        }
    }
}

/// Reading a document by names.
extension JSONValue {
    subscript(key: String) -> JSONValue? {
        if case .object(let members) = self { members[key] } else { nil }
    }

    var text: String? { if case .string(let text) = self { text } else { nil } }
    var count: Int? {
        if case .number(let digits) = self { Int(digits).map { max(0, $0) } } else { nil }
    }
    var flag: Bool? { if case .boolean(let flag) = self { flag } else { nil } }
    var items: [JSONValue] { if case .array(let items) = self { items } else { [] } }
}
