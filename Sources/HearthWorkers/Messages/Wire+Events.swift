import HearthBase
import HearthInference

extension WireWriter {
    mutating func write(_ event: GenerationEvent) {
        switch event {
        case .phase(.loading(let fraction)): write(UInt8(0)); write(fraction) { $0.write(amount: $1) }
        case .phase(.connecting): write(UInt8(1))
        case .phase(.prefill(let done, let total)): write(UInt8(2)); write(done); write(total)
        case .phase(.decode): write(UInt8(3))
        case .truncated(let dropped): write(UInt8(4)); write(dropped)
        case .picturesLeftOut(let count): write(UInt8(5)); write(count)
        case .token(let report): write(UInt8(6)); write(report)
        case .thinking(let text): write(UInt8(7)); write(text)
        case .text(let text): write(UInt8(8)); write(text)
        case .toolCall(let call): write(UInt8(9)); write(call)
        case .toolResult, .finish: preconditionFailure("an event of sessions, which no engine reports")
        }
    }

    private mutating func write(_ report: TokenReport) {
        write(report.chosen)
        write(report.alternatives) { $0.write($1) }
        write(report.isThinking)
        write(report.isPrompt)
    }

    private mutating func write(_ chance: TokenReport.Chance) {
        write(chance.token)
        write(chance.bytes)
        write(chance.logProbability)
    }

    mutating func write(_ summary: GenerationSummary) {
        write(summary.reason.rawValue)
        for count in [
            summary.usage.promptTokens, summary.usage.cachedTokens, summary.usage.generatedTokens,
            summary.usage.thinkingTokens, summary.droppedBytes, summary.encodedPictures,
        ] { write(count) }
        for amount in [
            summary.timings.firstTokenSeconds, summary.timings.prefillTokensPerSecond,
            summary.timings.decodeTokensPerSecond,
        ] { write(amount: amount) }
        write(summary.cacheMiss?.rawValue) { $0.write($1) }
        write(summary.stopString) { $0.write($1) }
        write(summary.turnChanges) { $0.write($1.rawValue) }
    }
}

extension GenerationEvent {
    /// The bytes that the event may take in the memory of its reader.
    var cost: Int {
        switch self {
        case .token(let report):
            report.alternatives.reduce(128 + report.chosen.bytes.count) { $0 + 64 + $1.bytes.count }
        case .thinking(let text), .text(let text): 64 + text.utf8.count
        case .toolCall(let call):
            128 + call.id.utf8.count + call.name.utf8.count + call.arguments.utf8.count
                + (call.spelling?.utf8.count ?? 0)
        default: 64
        }
    }
}

extension WireReader {
    mutating func event() throws(WireError) -> GenerationEvent {
        switch try number(UInt8.self) {
        case 0:
            let fraction = try optional { reader throws(WireError) in try reader.amount() }
            guard fraction ?? 0 <= 1 else { throw WireError() }
            return .phase(.loading(fraction: fraction))
        case 1: return .phase(.connecting)
        case 2: return .phase(.prefill(done: try count(), total: try count()))
        case 3: return .phase(.decode)
        case 4: return .truncated(dropped: try count())
        case 5: return .picturesLeftOut(count: try count())
        case 6:
            return .token(
                TokenReport(
                    chosen: try chance(), alternatives: try list { reader throws(WireError) in try reader.chance() },
                    isThinking: try bool(), isPrompt: try bool()))
        case 7: return .thinking(try text())
        case 8: return .text(try text())
        case 9: return .toolCall(try toolCall())
        default: throw WireError()
        }
    }

    private mutating func chance() throws(WireError) -> TokenReport.Chance {
        let chance = TokenReport.Chance(
            token: try number(), bytes: Array(try data()), logProbability: try float())
        guard chance.token >= 0, !chance.logProbability.isNaN, chance.logProbability <= 0 else { throw WireError() }
        return chance
    }

    mutating func summary() throws(WireError) -> GenerationSummary {
        let reason = FinishReason(rawValue: try text(64))
        guard reason.rawValue.isCode else { throw WireError() }
        var summary = GenerationSummary(
            reason: reason,
            usage: TokenUsage(
                promptTokens: try count(), cachedTokens: try count(), generatedTokens: try count(),
                thinkingTokens: try count()),
            timings: GenerationTimings(
                firstTokenSeconds: 0, prefillTokensPerSecond: 0, decodeTokensPerSecond: 0))
        (summary.droppedBytes, summary.encodedPictures) = (try count(), try count())
        summary.timings.firstTokenSeconds = try amount()
        summary.timings.prefillTokensPerSecond = try amount()
        summary.timings.decodeTokensPerSecond = try amount()
        summary.cacheMiss = try optional { reader throws(WireError) in try reader.word() }
        summary.stopString = try optional { reader throws(WireError) in try reader.text() }
        summary.turnChanges = try list { reader throws(WireError) in try reader.word() }
        // Callers take differences of these.
        guard summary.usage.cachedTokens <= summary.usage.promptTokens,
            summary.usage.thinkingTokens <= summary.usage.generatedTokens
        else { throw WireError() }
        return summary
    }
}

extension String {
    /// Whether the text has the form of a code: lower-case words joined by hyphens.
    var isCode: Bool {
        utf8.count <= 64 && !isEmpty
            && utf8.allSatisfy { (UInt8(ascii: "a")...UInt8(ascii: "z")).contains($0) || $0 == UInt8(ascii: "-") }
    }
}
