import HearthBase

/// The fields of Gemini's request that a gateway passes on.
///
/// Others would reach what belongs to the publisher, such as files and cached contents of the publisher's account, or cost
/// more than a turn, such as several candidates, searches and code that the cloud runs.
struct RelayedFields: Sendable {
    private indirect enum Shape: Sendable {
        /// A value of any form, which the cloud does not interpret as fields of a request.
        case value
        case list(Shape)
        case object([String: Shape])
    }

    private static let request = Shape.object([
        "contents": .list(content), "systemInstruction": content,
        "tools": .list(.object(["functionDeclarations": .list(declaration)])),
        "toolConfig": .object([
            "functionCallingConfig": .object(["mode": .value, "allowedFunctionNames": .list(.value)])
        ]),
        "safetySettings": .list(.object(["category": .value, "threshold": .value])),
        "generationConfig": configuration,
    ])
    private static let content = Shape.object(["role": .value, "parts": .list(part)])
    private static let part = Shape.object([
        "text": .value, "thought": .value, "thoughtSignature": .value,
        "inlineData": .object(["mimeType": .value, "data": .value]),
        "functionCall": .object(["id": .value, "name": .value, "args": .value]),
        "functionResponse": .object(["id": .value, "name": .value, "response": .value]),
    ])
    private static let declaration = Shape.object([
        "name": .value, "description": .value, "parameters": .value, "parametersJsonSchema": .value,
    ])
    private static let configuration = Shape.object([
        "temperature": .value, "topP": .value, "topK": .value, "maxOutputTokens": .value, "seed": .value,
        "stopSequences": .list(.value), "responseMimeType": .value, "responseSchema": .value,
        "responseJsonSchema": .value, "presencePenalty": .value, "frequencyPenalty": .value,
        "thinkingConfig": .object(["includeThoughts": .value, "thinkingBudget": .value, "thinkingLevel": .value]),
    ])

    /// The path of the first field that is not passed on; `nil` if all are.
    static func refused(in document: JSONValue) -> String? { refused(document, request, "") }

    private static func refused(_ value: JSONValue, _ shape: Shape, _ path: String) -> String? {
        switch (shape, value) {
        case (.value, _), (_, .null): return nil
        case (.list(let shape), .array(let items)):
            for (index, item) in items.enumerated() {
                if let found = refused(item, shape, "\(path)[\(index)]") { return found }
            }
            return nil
        case (.object(let shapes), .object(let members)):
            for (key, member) in members {
                let path = path.isEmpty ? key : "\(path).\(key)"
                guard let shape = shapes[camelCase(key)] else { return path }
                if let found = refused(member, shape, path) { return found }
            }
            return nil
        default: return path
        }
    }

    /// Gemini takes its fields in two spellings, such as `inlineData` and `inline_data`.
    private static func camelCase(_ key: String) -> String {
        let words = key.split(separator: "_", omittingEmptySubsequences: false)
        return words.dropFirst().reduce(String(words[0])) { $0 + $1.prefix(1).uppercased() + $1.dropFirst() }
    }
}
