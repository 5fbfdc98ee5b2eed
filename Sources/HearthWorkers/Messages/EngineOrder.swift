import HearthInference

/// What a process asks of its worker. Each order has a number, by which its reply is told.
enum EngineOrder: Sendable {
    /// Opens the engine; the content is that of `EngineService.Open`.
    case open([UInt8])
    case generate([ChatMessage], GenerationOptions)
    case prepare([ChatMessage], GenerationOptions)
    case embed([String])
    case rank(String, [String])
    case tokenize(String, controlTokens: Bool, wholePrompt: Bool, limit: Int?)
    case count([ChatMessage])
    case pieces([TokenID])
    case rendered([ChatMessage], GenerationOptions)
    /// Forgets the computed tokens of conversations.
    case forget
    /// Other work on a model's files, with the content of `EngineService.Work`.
    case work([UInt8])
    /// Saves what outlives the engine, and ends the process.
    case unload
    /// Ends the order of the number.
    case cancel
    /// The user wants the answer of the order of the number, and no more thinking.
    case answerNow

    private var kind: UInt8 {
        switch self {
        case .open: 1
        case .generate: 2
        case .prepare: 3
        case .embed: 4
        case .tokenize: 5
        case .count: 6
        case .pieces: 7
        case .rendered: 8
        case .unload: 9
        case .cancel: 10
        case .answerNow: 11
        case .work: 12
        case .forget: 13
        case .rank: 14
        }
    }

    func message(_ number: UInt32) -> [UInt8] {
        var writer = WireWriter()
        writer.write(kind)
        writer.write(number)
        switch self {
        case .open(let content), .work(let content): writer.write(content)
        case .generate(let messages, let options), .prepare(let messages, let options),
            .rendered(let messages, let options):
            writer.write(messages)
            writer.write(options)
        case .embed(let texts): writer.write(texts) { $0.write($1) }
        case .rank(let query, let documents):
            writer.write(query)
            writer.write(documents) { $0.write($1) }
        case .tokenize(let text, let controlTokens, let wholePrompt, let limit):
            writer.write(text)
            writer.write(controlTokens)
            writer.write(wholePrompt)
            writer.write(limit) { $0.write($1) }
        case .count(let messages): writer.write(messages)
        case .pieces(let tokens): writer.write(numbers: tokens)
        case .unload, .cancel, .answerNow, .forget: break
        }
        return writer.bytes
    }

    /// Reads an order and its number.
    /// - Throws: ``WireError``.
    static func read(_ message: [UInt8]) throws(WireError) -> (order: EngineOrder, number: UInt32) {
        var reader = WireReader(message[...])
        let kind = try reader.number(UInt8.self)
        let number = try reader.number(UInt32.self)
        let order: EngineOrder
        switch kind {
        case 1: order = .open(Array(try reader.data()))
        case 2: order = .generate(try reader.messages(), try reader.options())
        case 3: order = .prepare(try reader.messages(), try reader.options())
        case 4: order = .embed(try reader.list { reader throws(WireError) in try reader.text() })
        case 5:
            order = .tokenize(
                try reader.text(), controlTokens: try reader.bool(), wholePrompt: try reader.bool(),
                limit: try reader.optional { reader throws(WireError) in try reader.integer() })
        case 6: order = .count(try reader.messages())
        case 7: order = .pieces(try reader.numbers())
        case 8: order = .rendered(try reader.messages(), try reader.options())
        case 9: order = .unload
        case 10: order = .cancel
        case 11: order = .answerNow
        case 12: order = .work(Array(try reader.data()))
        case 13: order = .forget
        case 14: order = .rank(try reader.text(), try reader.list { reader throws(WireError) in try reader.text() })
        default: throw WireError()
        }
        try reader.end()
        return (order, number)
    }
}
