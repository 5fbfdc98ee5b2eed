/// Finds the patterns of a schema that llama.cpp cannot follow as they are written.
enum SchemaPattern {
    /// The reason why patterns of a schema cannot be followed; `nil` if all can, or if llama.cpp refuses them itself.
    /// - Parameter schema: a JSON object of bounded depth.
    static func flaw(inSchema schema: [String: Any]) -> String? {
        for (key, value) in schema.sorted(by: { $0.key < $1.key }) {
            let flaw: String? =
                switch (key, value) {
                case ("pattern", let pattern as String):
                    flaw(of: pattern).map { "the pattern \(pattern) \($0)" }
                // Values, however they look.
                case ("const", _), ("default", _), ("enum", _), ("examples", _): nil
                case ("properties", let named as [String: Any]), ("$defs", let named as [String: Any]),
                    ("definitions", let named as [String: Any]):
                    self.flaw(inList: named.sorted { $0.key < $1.key }.map(\.value))
                case (_, let list as [Any]): self.flaw(inList: list)
                default: self.flaw(inList: [value])
                }
            if let flaw { return flaw }
        }
        return nil
    }

    private static func flaw(inList values: [Any]) -> String? {
        for case let schema as [String: Any] in values {
            if let flaw = flaw(inSchema: schema) { return flaw }
        }
        return nil
    }

    private static func flaw(of pattern: String) -> String? {
        guard !pattern.isEmpty else { return nil }
        do {
            try SchemaExpression.check(pattern)
            return nil
        } catch {
            return error.reason
        }
    }
}
