/// The error of a missing value in a fixture.
package struct MissingValue: Error {
    package init() {}
}

/// Unwraps a value that a fixture needs.
package func required<Value>(_ value: Value?) throws -> Value {
    guard let value else { throw MissingValue() }
    return value
}
