import Foundation

@testable import HearthBase
@testable import HearthHTTP

/// Reads an event stream whole, in both halves around a place that its first byte chooses, and byte by byte: the events are
/// the same.
func fuzzEventStream(_ data: Data) {
    let bytes = Array(data.dropFirst())
    let cut = bytes.isEmpty ? 0 : Int(data.first ?? 0) * bytes.count / 256
    for mode in [ServerSentEventParser.Mode.standard, .lines] {
        func read(_ pieces: [[UInt8]]) -> [ServerSentEvent]? {
            var parser = ServerSentEventParser(mode, limit: 4096)
            return typed { try pieces.flatMap { try parser.append($0) } + parser.finish() }
        }
        let whole = read([bytes])
        precondition(whole == read([Array(bytes[..<cut]), Array(bytes[cut...])]), "the events depend on the cut")
        precondition(whole == read(bytes.map { [$0] }), "the events depend on the pieces")
        for event in whole ?? [] {
            precondition(
                !event.name.isEmpty && event.data.utf8.count <= 3 * 4096, "an event is too large or has no name")
        }
    }
}

func fuzzJSONList(_ data: Data) {
    func read(_ pieces: [[UInt8]]) -> [Data]? {
        var list = JSONArrayStream(limit: 4096)
        return typed { try pieces.flatMap { try list.append($0) } }
    }
    let bytes = Array(data)
    let whole = read([bytes])
    precondition(whole == read(bytes.map { [$0] }), "the elements depend on the pieces")
    // What JSON calls an array of objects comes through whole.
    guard let document = try? JSONValue(parsing: data), case .array(let items) = document, !data.starts(with: [0xEF]),
        items.allSatisfy({ if case .object = $0 { true } else { false } })
    else { return }
    let elements = whole?.map { try? JSONValue(parsing: $0) }
    precondition(elements == items.map { $0 } || data.count > 4096, "a list was split in the wrong places")
}
