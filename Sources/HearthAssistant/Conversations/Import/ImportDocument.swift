import Foundation
import HearthBase

/// A file with conversations: the places of the conversations in its bytes.
///
/// The file is an array of conversations, an object whose member `conversations` is one, or one conversation. It is scanned
/// without recursion and without a copy; each conversation is parsed when its turn comes.
struct ImportDocument {
    /// The bytes of the file, mapped into memory.
    let data: Data
    /// The place of each conversation.
    let places: [Range<Int>]

    /// The most conversations of a file.
    static let maximumCount = 200_000
    /// The most members of an object.
    static let maximumMembers = 1_000_000

    /// - Throws: ``AssistantError`` with `import-unreadable` or `import-too-large`.
    init(_ data: Data) throws {
        self.data = data
        places = try data.withUnsafeBytes { try ImportScanner(bytes: $0).conversations() }
    }

    /// The bytes of a conversation.
    subscript(place: Range<Int>) -> Data { data.subdata(in: place) }

    /// The names of the members of a conversation.
    func names(of place: Range<Int>) throws -> Set<String> {
        try data.withUnsafeBytes { bytes in
            let scanner = ImportScanner(bytes: UnsafeRawBufferPointer(rebasing: bytes[place]))
            guard scanner.bytes.first == UInt8(ascii: "{") else { return [] }
            return Set(try scanner.members(at: 0).members.map(\.name))
        }
    }

    /// A failure of a whole file.
    static func unreadable(_ problem: String) -> AssistantError {
        AssistantError(
            .importUnreadable, "the file cannot be imported: \(problem)",
            context: ErrorContext(
                remedy: "Choose an export of Hearth, ChatGPT or Open WebUI, and export again if it is damaged."))
    }
}

/// Finds the ends of JSON values in bytes. What lies between is checked by the parser of each value.
struct ImportScanner {
    let bytes: UnsafeRawBufferPointer

    /// A member of an object.
    struct Member {
        let name: String
        let value: Range<Int>
    }

    /// The places of the conversations of a document.
    func conversations() throws -> [Range<Int>] {
        let start = skipSpace(bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? 3 : 0)
        guard start < bytes.count else { throw ImportDocument.unreadable("it is empty") }
        switch bytes[start] {
        case UInt8(ascii: "["):
            let (items, end) = try items(at: start)
            try checkEnd(end)
            return items
        case UInt8(ascii: "{"):
            let (members, end) = try members(at: start)
            try checkEnd(end)
            guard let list = members.last(where: { $0.name == "conversations" }),
                bytes[list.value.lowerBound] == UInt8(ascii: "[")
            else { return [start..<end] }
            return try items(at: list.value.lowerBound).items
        default: throw ImportDocument.unreadable("it is no JSON document and no ZIP archive")
        }
    }

    private func checkEnd(_ end: Int) throws {
        guard skipSpace(end) == bytes.count else { throw ImportDocument.unreadable("other bytes follow its end") }
    }

    /// The items of an array that begins at a place, and its end.
    func items(at start: Int) throws -> (items: [Range<Int>], end: Int) {
        var items: [Range<Int>] = []
        var place = skipSpace(start + 1)
        if try byte(place) == UInt8(ascii: "]") { return ([], place + 1) }
        while true {
            let end = try endOfValue(at: place)
            items.append(place..<end)
            guard items.count <= ImportDocument.maximumCount else {
                throw AssistantError(
                    .importTooLarge, "the file holds too many conversations",
                    context: ErrorContext(expected: "at most \(ImportDocument.maximumCount)", found: "more"))
            }
            place = skipSpace(end)
            switch try byte(place) {
            case UInt8(ascii: "]"): return (items, place + 1)
            case UInt8(ascii: ","): place = skipSpace(place + 1)
            default: throw ImportDocument.unreadable("a comma is missing in its list")
            }
        }
    }

    /// The members of an object that begins at a place, and its end.
    func members(at start: Int) throws -> (members: [Member], end: Int) {
        var members: [Member] = []
        var place = skipSpace(start + 1)
        if try byte(place) == UInt8(ascii: "}") { return ([], place + 1) }
        while true {
            guard try byte(place) == UInt8(ascii: "\"") else {
                throw ImportDocument.unreadable("a name is missing in it")
            }
            let nameEnd = try endOfText(at: place)
            let name = String(decoding: bytes[place + 1..<nameEnd - 1], as: UTF8.self)
            let colon = skipSpace(nameEnd)
            guard try byte(colon) == UInt8(ascii: ":") else {
                throw ImportDocument.unreadable("a colon is missing in it")
            }
            let value = skipSpace(colon + 1)
            let end = try endOfValue(at: value)
            members.append(Member(name: name, value: value..<end))
            guard members.count <= ImportDocument.maximumMembers else {
                throw AssistantError(
                    .importTooLarge, "an object of the file has too many members",
                    context: ErrorContext(expected: "at most \(ImportDocument.maximumMembers)", found: "more"))
            }
            place = skipSpace(end)
            switch try byte(place) {
            case UInt8(ascii: "}"): return (members, place + 1)
            case UInt8(ascii: ","): place = skipSpace(place + 1)
            default: throw ImportDocument.unreadable("a comma is missing in it")
            }
        }
    }

    private func byte(_ place: Int) throws -> UInt8 {
        guard place < bytes.count else { throw ImportDocument.unreadable("it is cut off") }
        return bytes[place]
    }

    private func skipSpace(_ start: Int) -> Int {
        var place = start
        while place < bytes.count, [0x20, 0x09, 0x0A, 0x0D].contains(bytes[place]) { place += 1 }
        return place
    }

    /// The end of the value that begins at a place.
    private func endOfValue(at start: Int) throws -> Int {
        switch try byte(start) {
        case UInt8(ascii: "\""): return try endOfText(at: start)
        case UInt8(ascii: "{"), UInt8(ascii: "["): return try endOfNesting(at: start)
        case UInt8(ascii: ","), UInt8(ascii: "]"), UInt8(ascii: "}"), UInt8(ascii: ":"):
            throw ImportDocument.unreadable("a value is missing in it")
        default:
            var place = start
            while place < bytes.count, ![0x20, 0x09, 0x0A, 0x0D, 0x2C, 0x5D, 0x7D].contains(bytes[place]) { place += 1 }
            return place
        }
    }

    private func endOfNesting(at start: Int) throws -> Int {
        var place = start
        var depth = 0
        while true {
            switch try byte(place) {
            case UInt8(ascii: "\""):
                place = try endOfText(at: place)
                continue
            case UInt8(ascii: "{"), UInt8(ascii: "["): depth += 1
            case UInt8(ascii: "}"), UInt8(ascii: "]"):
                depth -= 1
                if depth == 0 { return place + 1 }
            default: break
            }
            place += 1
        }
    }

    private func endOfText(at start: Int) throws -> Int {
        var place = start + 1
        while true {
            switch try byte(place) {
            case UInt8(ascii: "\""): return place + 1
            case UInt8(ascii: "\\"): place += 2
            default: place += 1
            }
        }
    }
}
