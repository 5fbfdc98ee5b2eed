import HearthBase
import HearthInference

/// What a worker says. The process that hears it trusts none of it.
enum EngineReply {
    /// The result of an order.
    enum Answer {
        case done
        case opened(ModelInformation, EngineCapabilities)
        case summary(GenerationSummary)
        case vectors([[Float]])
        case tokens([TokenID])
        case count(Int)
        case pieces([[UInt8]])
        case rendered(String, Int)
        case content([UInt8])
    }

    /// The first message: the version of what both speak.
    case hello(UInt32)
    case progress(Float)
    /// Events of generations; those of one step come together.
    case events([(number: UInt32, event: GenerationEvent)])
    case done(Answer)
    case failed(any Error)
    /// The worker lives; the calls into the model's own code that are under way.
    case pulse([CallWatch.Call])
    /// An entry of the log.
    case log(Log.Level, name: String, message: String)

    /// The version of orders and replies. Both sides are one program, unless someone exchanged one of them.
    static let version: UInt32 = 1
    /// The head of a message of events, after which they follow.
    static let eventsHead: [UInt8] = [3] + [0, 0, 0, 0]

    /// The most bytes of a line of the log.
    private static let longestLine = 4096

    static func event(_ event: GenerationEvent, of number: UInt32) -> [UInt8] {
        var writer = WireWriter()
        writer.write(number)
        writer.write(event)
        return writer.bytes
    }

    func message(_ number: UInt32 = 0) -> [UInt8] {
        var writer = WireWriter()
        func begin(_ kind: UInt8) {
            writer.write(kind)
            writer.write(number)
        }
        switch self {
        case .hello(let version):
            begin(1)
            writer.write(version)
        case .progress(let fraction):
            begin(2)
            writer.write(fraction)
        case .events(let events):
            begin(3)
            for (number, event) in events {
                writer.write(number)
                writer.write(event)
            }
        case .done(let answer):
            begin(4)
            writer.write(answer)
        case .failed(let error):
            begin(5)
            writer.write(error)
        case .pulse(let calls):
            begin(6)
            writer.write(Array(calls.prefix(Self.mostCalls))) { writer, call in
                writer.write(call.kind.rawValue)
                writer.write(amount: call.wallSeconds)
                writer.write(amount: call.processorSeconds)
                writer.write(amount: call.silentSeconds)
                writer.write(call.bytes)
            }
        case .log(let level, let name, let message):
            begin(7)
            writer.write(UInt8(Log.Level.allCases.firstIndex(of: level) ?? 0))
            writer.write(name.boundedLine(maximumBytes: Self.longestLine))
            writer.write(message.boundedLine(maximumBytes: Self.longestLine))
        }
        return writer.bytes
    }

    /// The most events of a message, and the most calls of a pulse.
    private static let mostEvents = 1 << 16
    private static let mostCalls = 64

    /// The order whose result begins like this; `nil` for other replies.
    /// - Throws: ``WireError`` if the message has no head.
    static func result(_ start: ArraySlice<UInt8>) throws(WireError) -> UInt32? {
        var reader = WireReader(start)
        let kind = try reader.number(UInt8.self)
        let number = try reader.number(UInt32.self)
        return kind == 4 ? number : nil
    }

    /// Reads a reply and the number of its order.
    /// - Throws: ``WireError``.
    static func read(_ message: [UInt8]) throws(WireError) -> (reply: EngineReply, number: UInt32) {
        var reader = WireReader(message[...])
        let kind = try reader.number(UInt8.self)
        let number = try reader.number(UInt32.self)
        let reply: EngineReply
        switch kind {
        case 1: reply = .hello(try reader.number())
        case 2:
            let fraction = try reader.float()
            guard (0...1).contains(fraction) else { throw WireError() }
            reply = .progress(fraction)
        case 3:
            var events: [(UInt32, GenerationEvent)] = []
            while !reader.isAtEnd {
                guard events.count < mostEvents else { throw WireError() }
                events.append((try reader.number(), try reader.event()))
            }
            reply = .events(events)
        case 4: reply = .done(try reader.answer())
        case 5: reply = .failed(try reader.failure())
        case 6:
            reply = .pulse(
                try reader.list(most: mostCalls) { reader throws(WireError) in
                    guard let kind = CallWatch.Kind(rawValue: try reader.number()) else { throw WireError() }
                    return CallWatch.Call(
                        kind: kind, wallSeconds: try reader.amount(), processorSeconds: try reader.amount(),
                        silentSeconds: try reader.amount(), bytes: try reader.number())
                })
        case 7:
            let level = Int(try reader.number(UInt8.self))
            guard Log.Level.allCases.indices.contains(level) else { throw WireError() }
            reply = .log(
                Log.Level.allCases[level], name: try reader.text(Self.longestLine),
                message: try reader.text(Self.longestLine))
        default: throw WireError()
        }
        try reader.end()
        return (reply, number)
    }
}

extension WireWriter {
    fileprivate mutating func write(_ answer: EngineReply.Answer) {
        switch answer {
        case .done: write(UInt8(0))
        case .opened(let information, let capabilities):
            write(UInt8(1))
            write(information, capabilities)
        case .summary(let summary):
            write(UInt8(2))
            write(summary)
        case .vectors(let vectors):
            write(UInt8(3))
            write(vectors) { $0.write(numbers: $1) }
        case .tokens(let tokens):
            write(UInt8(4))
            write(numbers: tokens)
        case .count(let count):
            write(UInt8(5))
            write(count)
        case .pieces(let pieces):
            write(UInt8(6))
            write(pieces) { $0.write($1) }
        case .rendered(let text, let count):
            write(UInt8(7))
            write(text)
            write(count)
        case .content(let content):
            write(UInt8(8))
            write(content)
        }
    }
}

extension WireReader {
    fileprivate mutating func answer() throws(WireError) -> EngineReply.Answer {
        switch try number(UInt8.self) {
        case 0: return .done
        case 1:
            let (information, capabilities) = try facts()
            return .opened(information, capabilities)
        case 2: return .summary(try summary())
        case 3: return .vectors(try list { reader throws(WireError) in try reader.numbers() })
        case 4:
            let tokens: [TokenID] = try numbers()
            guard tokens.allSatisfy({ $0 >= 0 }) else { throw WireError() }
            return .tokens(tokens)
        case 5: return .count(try count())
        case 6: return .pieces(try list { reader throws(WireError) in Array(try reader.data()) })
        case 7: return .rendered(try text(), try count())
        case 8: return .content(Array(try data()))
        default: throw WireError()
        }
    }
}
