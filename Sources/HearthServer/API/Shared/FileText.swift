import Foundation
import HearthBase

/// Reads the text of files that requests carry.
enum FileText {
    /// The text of a file part: `file_data` with a data URL of a text, after its `filename`.
    static func text(_ part: Fields) throws(APIFailure) -> String {
        guard let data = try part.string("file_data") else {
            throw .notServed(part.name("file_id"), "is not served; send the text of the file")
        }
        let text = try text(address: data, field: part.name("file_data"))
        return try part.string("filename").map { $0 + ":\n" + text } ?? text
    }

    /// The text of a data URL.
    static func text(address: String, field: String) throws(APIFailure) -> String {
        guard address.hasPrefix("data:"), let comma = address.firstIndex(of: ",") else {
            throw .notServed(field, "must be a data URL with a text: addresses are not fetched")
        }
        let head = address[..<comma].dropFirst("data:".count)
        let type = head.split(separator: ";").first.map(String.init) ?? ""
        let body = String(address[address.index(after: comma)...])
        guard head.hasSuffix(";base64") else {
            guard isText(type), let text = body.removingPercentEncoding else { throw notText(type, field) }
            return text
        }
        return try text(base64: body, type: type, field: field)
    }

    /// The text in base64.
    static func text(base64: String, type: String, field: String) throws(APIFailure) -> String {
        guard isText(type), let data = Data(base64Encoded: base64, options: .ignoreUnknownCharacters),
            !data.isEmpty || base64.isEmpty, let text = String(bytes: data, encoding: .utf8)
        else { throw notText(type, field) }
        return text
    }

    private static func isText(_ type: String) -> Bool {
        type.isEmpty || type.hasPrefix("text/") || ["application/json", "application/xml"].contains(type)
    }

    private static func notText(_ type: String, _ field: String) -> APIFailure {
        .notServed(field, "must be a text: files of the type `\(type.prefix(60))` are not read")
    }
}

extension Fields {
    /// The refusal of a part that is all there is and not served.
    func isAllOf(_ whole: String) -> APIFailure {
        let type = value("type")?.string ?? ""
        return .notServed(name("type"), "`\(type.prefix(60))` is not served, and \(whole) has nothing else")
    }
}
