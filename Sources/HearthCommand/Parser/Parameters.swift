import HearthBase

/// The properties of an option or flag that do not depend on its value's type.
struct OptionShape: Sendable, Hashable {
    /// The long name without hyphens.
    let name: String
    var short: Character?
    /// The name of the value in the help text, `nil` for a flag.
    var valueName: String?
    let help: String
    /// The value without the option, for the help text.
    var defaultText: String?
    var isRepeatable = false
    var isRequired = false
    var completion = Completion.none

    /// The long name with hyphens.
    var flag: String { "--\(name)" }
}

/// A named parameter of a command.
protocol DeclaredOption: Sendable {
    var shape: OptionShape { get }
    /// Takes the option's words, none if it is absent.
    /// - Throws: ``UsageError``
    func take(_ words: [String], of declaration: CommandDeclaration) throws
}

/// A parameter without a value, such as `--quiet`: whether it was given.
@propertyWrapper struct Flag: DeclaredOption {
    let shape: OptionShape
    private let isGiven = Locked(false)

    var wrappedValue: Bool { isGiven.withLock { $0 } }

    init(_ name: String, short: Character? = nil, _ help: String) {
        shape = OptionShape(name: name, short: short, help: help, isRepeatable: true)
    }

    /// A flag that several commands have.
    init(_ shared: Flag) { shape = shared.shape }

    func take(_ words: [String], of declaration: CommandDeclaration) { isGiven.withLock { $0 = !words.isEmpty } }
}

/// A parameter with a value, such as `--port N`: optional, with a default, required, or repeatable.
@propertyWrapper struct Option<Value: Sendable>: DeclaredOption {
    let shape: OptionShape
    private let read: @Sendable ([String], CommandDeclaration) throws -> Value
    private let value = Locked<Value?>(nil)

    var wrappedValue: Value { taken(value) }

    /// An option without which the value is `nil`; the help may say what happens then.
    init<Item>(
        _ name: String, _ valueName: String, _ kind: ValueKind<Item>, default text: String? = nil, _ help: String
    ) where Value == Item? {
        shape = OptionShape(
            name: name, valueName: valueName, help: help, defaultText: text, completion: kind.completion)
        read = { try $1.values($0, kind, of: "--\(name)").last }
    }

    /// An option with a default, which the help shows as `text`.
    init(
        wrappedValue: Value, _ name: String, _ valueName: String, _ kind: ValueKind<Value>,
        default text: String? = nil, _ help: String
    ) {
        shape = OptionShape(
            name: name, valueName: valueName, help: help, defaultText: text ?? String(describing: wrappedValue),
            completion: kind.completion)
        read = { try $1.values($0, kind, of: "--\(name)").last ?? wrappedValue }
    }

    /// An option that has to be given; a message says with what.
    init(_ name: String, _ valueName: String, _ kind: ValueKind<Value>, required what: String, _ help: String) {
        shape = OptionShape(
            name: name, valueName: valueName, help: help, isRequired: true, completion: kind.completion)
        read = { words, declaration in
            guard let value = try declaration.values(words, kind, of: "--\(name)").last else {
                throw UsageError(
                    "\(declaration.commandLine) needs --\(name) \(what)", hint: declaration.hint())
            }
            return value
        }
    }

    /// An option that may be given several times.
    init<Item>(
        _ name: String, _ valueName: String, _ kind: ValueKind<Item>, default text: String? = nil,
        isRepeatable: Bool, _ help: String
    ) where Value == [Item] {
        shape = OptionShape(
            name: name, valueName: valueName, help: help, defaultText: text, isRepeatable: isRepeatable,
            completion: kind.completion)
        read = { try $1.values($0, kind, of: "--\(name)") }
    }

    /// An option that several commands have.
    init(_ shared: Option) { (shape, read) = (shared.shape, shared.read) }

    func take(_ words: [String], of declaration: CommandDeclaration) throws {
        let taken = try read(words, declaration)
        value.withLock { $0 = taken }
    }
}

/// The properties of an argument that do not depend on its value's type.
struct ArgumentShape: Sendable, Hashable {
    /// The number of words; only the last argument may have several.
    enum Arity: Sendable, Hashable { case one, optional, oneOrMore, any }

    /// The name in capitals, such as `REF`.
    let name: String
    let help: String
    let arity: Arity
    var completion = Completion.none

    var isRequired: Bool { arity == .one || arity == .oneOrMore }
    /// Whether the argument takes all the words that are left.
    var takesRest: Bool { arity == .oneOrMore || arity == .any }

    /// The argument in the usage line.
    var usage: String {
        switch arity {
        case .one: name
        case .optional: "[\(name)]"
        case .oneOrMore: "\(name)…"
        case .any: "[\(name)…]"
        }
    }
}

/// A positional parameter of a command.
protocol DeclaredArgument: Sendable {
    var shape: ArgumentShape { get }
    /// Takes the argument's words.
    /// - Throws: ``UsageError``
    func take(_ words: [String], of declaration: CommandDeclaration) throws
}

/// A positional parameter: one word, an optional one, or a list of at least one.
@propertyWrapper struct Argument<Value: Sendable>: DeclaredArgument {
    let shape: ArgumentShape
    private let read: @Sendable ([String], CommandDeclaration) throws -> Value?
    private let value = Locked<Value?>(nil)

    var wrappedValue: Value { taken(value) }

    init(_ name: String, _ kind: ValueKind<Value>, _ help: String) {
        shape = ArgumentShape(name: name, help: help, arity: .one, completion: kind.completion)
        read = { try $1.values($0, kind, of: name).first }
    }

    /// An argument without which the value is `nil`.
    init<Item>(_ name: String, _ kind: ValueKind<Item>, arity: OptionalArity, _ help: String) where Value == Item? {
        shape = ArgumentShape(name: name, help: help, arity: .optional, completion: kind.completion)
        read = { .some(try $1.values($0, kind, of: name).first) }
    }

    /// An optional argument with a default.
    init(wrappedValue: Value, _ name: String, _ kind: ValueKind<Value>, _ help: String) {
        shape = ArgumentShape(name: name, help: help, arity: .optional, completion: kind.completion)
        read = { try $1.values($0, kind, of: name).first ?? wrappedValue }
    }

    /// The last argument, of all the words that are left.
    init<Item>(_ name: String, _ kind: ValueKind<Item>, arity: SeveralArity, _ help: String) where Value == [Item] {
        shape = ArgumentShape(name: name, help: help, arity: .oneOrMore, completion: kind.completion)
        read = { try $1.values($0, kind, of: name) }
    }

    /// The last argument, of all the words that are left, if any.
    init<Item>(_ name: String, _ kind: ValueKind<Item>, arity: AnyArity, _ help: String) where Value == [Item] {
        shape = ArgumentShape(name: name, help: help, arity: .any, completion: kind.completion)
        read = { try $1.values($0, kind, of: name) }
    }

    /// An argument that several commands have.
    init(_ shared: Argument) { (shape, read) = (shared.shape, shared.read) }

    func take(_ words: [String], of declaration: CommandDeclaration) throws {
        let taken = try read(words, declaration)
        value.withLock { $0 = taken }
    }
}

enum OptionalArity: Sendable { case optional }
enum SeveralArity: Sendable { case oneOrMore }
enum AnyArity: Sendable { case any }

/// The value of a parameter of a command that was made from words.
private func taken<Value: Sendable>(_ parameter: Locked<Value?>) -> Value {
    guard let value = parameter.withLock({ $0 }) else { preconditionFailure("a parameter is read before it is parsed") }
    return value
}

extension CommandDeclaration {
    /// Converts the words of a parameter.
    fileprivate func values<Value>(_ words: [String], _ kind: ValueKind<Value>, of name: String) throws -> [Value] {
        try words.map { word in
            guard let value = try kind.parse(word) else {
                throw UsageError("\(name) must be \(kind.expectation), not \(word.quotedForTerminal)", hint: hint())
            }
            return value
        }
    }
}
