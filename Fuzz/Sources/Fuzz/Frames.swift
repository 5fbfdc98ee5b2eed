import Foundation

@testable import HearthWorkers

/// Reads frames whole, in pieces of a size that the first byte chooses, and byte by byte: the bodies and the end are the
/// same.
func fuzzFrame(_ data: Data) {
    let bytes = Array(data.dropFirst())
    let maximum = 64
    func read(_ size: Int) -> [[UInt8]?] {
        var reader = FrameReader(maximumLength: maximum)
        var rest = bytes[...]
        var bodies: [[UInt8]?] = []
        do throws(FrameError) {
            while true {
                while let body = try reader.next() { bodies.append(body) }
                let count = try reader.fill { free in
                    let piece = rest.prefix(min(size, free.count))
                    free.copyBytes(from: piece)
                    rest = rest.dropFirst(piece.count)
                    return piece.count
                }
                if count == 0 { break }
            }
            try reader.finish()
        } catch {
            precondition(error == .malformed, "another error: \(error)")
            bodies.append(nil)
        }
        return bodies
    }
    let whole = read(bytes.count + 1)
    precondition(whole == read(Int(data.first ?? 0) + 1), "the frames depend on the cut")
    precondition(whole == read(1), "the frames depend on the pieces")
    var length = 0
    for case let body? in whole {
        precondition((1...maximum).contains(body.count), "a body of \(body.count) bytes came through")
        length += 4 + body.count
    }
    precondition(whole.contains(nil) ? length <= bytes.count : length == bytes.count, "bytes were lost or made up")
}

/// Reads what a worker may say, and what a parent may. What is read is written and read again as the same.
func fuzzWorkerMessage(_ data: Data) {
    let bytes = Array(data)
    if let (reply, number) = try? EngineReply.read(bytes) {
        let message = reply.message(number)
        guard let again = try? EngineReply.read(message) else { preconditionFailure("a reply is not read again") }
        precondition(again.number == number && again.reply.message(number) == message, "a reply changes")
    }
    if let (order, number) = try? EngineOrder.read(bytes) {
        let message = order.message(number)
        guard let again = try? EngineOrder.read(message) else { preconditionFailure("an order is not read again") }
        precondition(again.number == number && again.order.message(number) == message, "an order changes")
    }
}
