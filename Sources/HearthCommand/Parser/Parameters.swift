import HearthBase

/// The properties of an option or flag that do not depend on its value's type.
struct OptionShape: Sendable, Hashable {
    /// The long name without hyphens.
    let name: String
    let short: Character?
    /// The name of the value in the help text, `nil` for a flag.
    let valueName: String?
    let help: String
    /// The value without the option, for the help text.
    let defaultText: String?
    let isRepeatable: Bool

    /// The long name with hyphens.
    var flag: String { "--\(name)" }
}

/// A named parameter of a command.
protocol DeclaredOption: Sendable {
    var shape: OptionShape { get }
}

/// A parameter without a value, such as `--quiet`.
struct Flag: DeclaredOption {
    let shape: OptionShape

    init(_ name: String, short: Character? = nil, _ help: String) {
        shape = OptionShape(
            name: name, short: short, valueName: nil, help: help, defaultText: nil, isRepeatable: true)
    }
}

/// A parameter with a value, such as `--port N`.
struct Option<Value: Sendable>: DeclaredOption {
    let shape: OptionShape
    let kind: ValueKind<Value>

    init(
        _ name: String, _ valueName: String, _ kind: ValueKind<Value>, default defaultText: String? = nil,
        isRepeatable: Bool = false, _ help: String
    ) {
        shape = OptionShape(
            name: name, short: nil, valueName: valueName, help: help, defaultText: defaultText,
            isRepeatable: isRepeatable)
        self.kind = kind
    }
}

/// The properties of an argument that do not depend on its value's type.
struct ArgumentShape: Sendable, Hashable {
    /// The number of words; only the last argument may have several.
    enum Arity: Sendable, Hashable { case one, optional, oneOrMore }

    /// The name in capitals, such as `REF`.
    let name: String
    let help: String
    let arity: Arity

    /// The argument in the usage line.
    var usage: String {
        switch arity {
        case .one: name
        case .optional: "[\(name)]"
        case .oneOrMore: "\(name)…"
        }
    }
}

/// A positional parameter of a command.
protocol DeclaredArgument: Sendable {
    var shape: ArgumentShape { get }
}

/// A positional parameter with words of one type.
struct Argument<Value: Sendable>: DeclaredArgument {
    let shape: ArgumentShape
    let kind: ValueKind<Value>

    init(_ name: String, _ kind: ValueKind<Value>, arity: ArgumentShape.Arity = .one, _ help: String) {
        shape = ArgumentShape(name: name, help: help, arity: arity)
        self.kind = kind
    }
}

/// Converts words of the command line to values.
struct ValueKind<Value: Sendable>: Sendable {
    /// A description of valid words, to complete "must be …".
    let expectation: String
    /// Converts a word; `nil` if it is invalid, or a specific error that explains more.
    let parse: @Sendable (String) throws -> Value?

    init(_ expectation: String, _ parse: @escaping @Sendable (String) throws -> Value?) {
        self.expectation = expectation
        self.parse = parse
    }
}

extension ValueKind where Value == String {
    /// Any text, including an empty one.
    static var text: Self { ValueKind("text") { $0 } }
    /// Any text except an empty one.
    static var word: Self { ValueKind("a text that is not empty") { $0.isEmpty ? nil : $0 } }
}

extension ValueKind where Value == Int {
    /// A whole number in a range.
    static func integer(_ range: ClosedRange<Int>) -> Self {
        let upper = range.upperBound == .max ? " or more" : " to \(range.upperBound)"
        return ValueKind("a whole number, \(range.lowerBound)\(upper)") { word in
            Int(word).flatMap { range.contains($0) ? $0 : nil }
        }
    }
}

extension ValueKind where Value == Float {
    /// A finite decimal number in a range.
    static func number(_ range: ClosedRange<Float>) -> Self {
        ValueKind("a number from \(range.lowerBound.plain) to \(range.upperBound.plain)") { word in
            Float(word).flatMap { $0.isFinite && range.contains($0) ? $0 : nil }
        }
    }
}

extension ValueKind where Value: RawRepresentable & CaseIterable, Value.RawValue == String {
    /// One of the cases of an enumeration.
    static var choice: Self {
        ValueKind("one of " + Value.allCases.map(\.rawValue).joined(separator: ", ")) { Value(rawValue: $0) }
    }
}

extension ValueKind where Value == UInt64 {
    /// A positive number of bytes: `500000`, `500K`, `1.5M`, `2GiB`. K, M and G are powers of 1000; KiB, MiB and GiB
    /// of 1024.
    static var byteCount: Self {
        ValueKind("a number of bytes such as 500000, 500K or 1.5M") { ByteCount(parsing: $0)?.bytes }
    }
}

extension Option where Value == ListingFormat {
    /// The option of commands that list something.
    static var listing: Self {
        Option("format", "FORMAT", .choice, default: "table", "table, or json for programs.")
    }
}

extension Option where Value == EventFormat {
    /// The option of commands that report progress.
    static var events: Self {
        Option("format", "FORMAT", .choice, default: "text", "text, or json: one event a line.")
    }

    /// The option of commands that print a report.
    static var report: Self { Option("format", "FORMAT", .choice, default: "text", "text, or json for programs.") }
}

extension Float {
    fileprivate var plain: String { self == rounded() && magnitude < 1e9 ? String(Int(self)) : String(self) }
}
