/// Finds the patterns of a schema that llama.cpp does not support unchanged.
enum SchemaPattern {
    /// The reason why a pattern of a schema is not supported; `nil` if all are, or if llama.cpp itself refuses it.
    /// - Parameter schema: a JSON object of bounded depth.
    static func flaw(inSchema schema: [String: Any]) -> String? {
        for (key, value) in schema.sorted(by: { $0.key < $1.key }) {
            let flaw: String? =
                switch (key, value) {
                case ("pattern", let pattern as String):
                    flaw(of: pattern).map { "the pattern \(pattern) \($0)" }
                // These keywords contain values, even if a value looks like a schema.
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
