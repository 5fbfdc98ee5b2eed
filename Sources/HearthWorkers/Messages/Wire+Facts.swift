import HearthBase
import HearthInference

extension WireWriter {
    mutating func write(_ information: ModelInformation, _ capabilities: EngineCapabilities) {
        write(information.description)
        write(information.contextLength)
        write(information.parameterCount) { $0.write($1) }
        write(information.size) { $0.write($1) }
        for count in [information.trainedContextLength, information.batchSize, information.threadCount] {
            write(count) { $0.write($1) }
        }
        write(information.isEncoderOnly)
        write(information.embeddingLength)
        write(information.parallelAnswers) { $0.write($1) }
        write(capabilities.rawValue)
    }

    /// An error: its code, words and facts. The cause stays in the process.
    mutating func write(_ error: any Error) {
        guard !(error is CancellationError) else { return write(UInt8(0)) }
        write(UInt8(1))
        let failure = error as? any HearthFailure
        write(failure?.codeText ?? ErrorCode<ModelInformation>.generateFailed.rawValue)
        write(failure?.message ?? "\(error)")
        write((failure?.disposition ?? .failed).rawValue)
        let context = failure?.context ?? ErrorContext()
        for text in [
            context.model, context.file, context.url, context.field, context.expected, context.found, context.remedy,
        ] { write(text) { $0.write($1) } }
        write(context.systemError) { $0.write($1) }
        write(context.retryAfterSeconds) { $0.write(amount: $1) }
    }
}

extension WireReader {
    mutating func facts() throws(WireError) -> (ModelInformation, EngineCapabilities) {
        func size(_ reader: inout WireReader) throws(WireError) -> UInt64 { try reader.number(UInt64.self) }
        func few(_ reader: inout WireReader) throws(WireError) -> Int { try reader.count(1 << 22) }
        var information = ModelInformation(description: try words(), contextLength: try few(&self))
        (information.parameterCount, information.size) = (try optional(size), try optional(size))
        (information.trainedContextLength, information.batchSize) = (try optional(few), try optional(few))
        (information.threadCount, information.isEncoderOnly) = (try optional(few), try bool())
        (information.embeddingLength, information.parallelAnswers) = (
            try few(&self), try optional { reader throws(WireError) in try reader.count(1 << 10) }
        )
        return (information, EngineCapabilities(rawValue: try number(UInt32.self)))
    }

    /// The error of the other process.
    mutating func failure() throws(WireError) -> any Error {
        guard try number(UInt8.self) == 1 else { return CancellationError() }
        let code = try text(64)
        let message = try self.words()
        guard code.isCode, let disposition = ErrorDisposition(rawValue: try number(Int32.self)) else {
            throw WireError()
        }
        func words(_ reader: inout WireReader) throws(WireError) -> String { try reader.words() }
        var context = ErrorContext(
            model: try optional(words), file: try optional(words), url: try optional(words),
            field: try optional(words), expected: try optional(words), found: try optional(words),
            remedy: try optional(words))
        context.systemError = try optional { reader throws(WireError) in try reader.number(Int32.self) }
        context.retryAfterSeconds = try optional { reader throws(WireError) in try reader.amount() }
        return LLMError(
            ErrorCode(stringLiteral: code), message, context: context, disposition: disposition)
    }

    /// Words to display: without control characters, and not longer than anyone reads.
    private mutating func words() throws(WireError) -> String {
        String(
            try text().unicodeScalars.lazy.filter { $0.properties.generalCategory != .control }.prefix(4096).map(
                Character.init))
    }
}
