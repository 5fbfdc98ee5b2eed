import HearthBase

extension Command {
    init() { preconditionFailure("the command converts its words in an initialiser") }

    init(_ values: ParsedArguments) throws {
        self.init()
        try CommandParameters(of: self).take(values)
    }
}

extension ParsedArguments {
    func value<Value>(_ option: Option<Value?>) throws -> Value? {
        try option.take(options[option.shape.name] ?? [], of: declaration)
        return option.wrappedValue
    }

    func value<Value>(_ option: Option<Value>) throws -> Value? {
        guard let words = options[option.shape.name] else { return nil }
        try option.take(words, of: declaration)
        return option.wrappedValue
    }

    func values<Value>(_ option: Option<[Value]>) throws -> [Value] {
        try option.take(options[option.shape.name] ?? [], of: declaration)
        return option.wrappedValue
    }

    func value<Value>(_ argument: Argument<Value>) throws -> Value { try taken(argument) }
    func optional<Value>(_ argument: Argument<Value?>) throws -> Value? { try taken(argument) }
    func values<Value>(_ argument: Argument<[Value]>) throws -> [Value] { try taken(argument) }

    private func taken<Value>(_ argument: Argument<Value>) throws -> Value {
        let shapes = (declaration.parameters?.arguments ?? []).map(\.shape)
        let index = shapes.firstIndex(of: argument.shape) ?? shapes.count
        try argument.take(positionals(of: argument.shape, at: index), of: declaration)
        return argument.wrappedValue
    }
}
