import Foundation
import HearthBase

/// A time zone of the system's database (RFC 9636), read exactly.
///
/// libical turns the changes of such a file into yearly rules, which are wrong for single years of some zones, such as
/// those of Brazil before 2019.
struct SystemZone: Sendable {
    /// A change of the offset.
    struct Change: Sendable, Hashable {
        /// The moment, in seconds since 1970.
        let moment: Int
        let kind: Kind
    }

    /// An offset with its name.
    struct Kind: Sendable, Hashable {
        /// The seconds east of UTC.
        let offset: Int
        let isDaylight: Bool
        let name: String
    }

    /// The changes in order.
    let changes: [Change]
    /// The kind before the first change.
    let first: Kind
    /// The changes of each year after the last one of the list.
    let rule: YearlyZoneRule?

    /// The folders of the database.
    private static let folders = ["/usr/share/zoneinfo", "/usr/lib/zoneinfo", "/var/db/timezone/zoneinfo"]

    /// Reads the zone with an IANA name; `nil` if the system has none.
    init?(named name: String) {
        guard let path = RelativePath(name), name.utf8.count <= 100 else { return nil }
        let disk = LocalFileSystem()
        for folder in Self.folders {
            // A folder without the name is no failure; the next one may have it.
            guard let data = try? disk.contents(ofFile: Path(folder).appending(path), limit: 1 << 20) else { continue }
            guard let zone = SystemZone(data) else { continue }
            self = zone
            return
        }
        return nil
    }

    /// A zone that is always as far from UTC, in seconds east of it.
    init(offset: Int) {
        changes = []
        let size = abs(offset) / 60
        let name = String(format: "%@%02d%02d", offset < 0 ? "-" : "+", size / 60, size % 60)
        first = Kind(offset: offset, isDaylight: false, name: offset == 0 ? "UTC" : name)
        rule = nil
    }

    /// The name of the database for a name in any case; `nil` if the system has none.
    static func name(inAnyCase name: String) -> String? {
        guard let path = RelativePath(name), name.utf8.count <= 100 else { return nil }
        let disk = LocalFileSystem()
        for folder in folders {
            var found: [String] = []
            for part in path.components.map({ $0.name.lowercased() }) {
                let place = found.reduce(Path(folder)) { $0.joined($1) }
                // A folder without the name is no failure; the next one may have it.
                guard let names = try? disk.contents(of: place),
                    let match = names.first(where: { $0.lowercased() == part })
                else { break }
                found.append(match)
            }
            let match = found.joined(separator: "/")
            if found.count == path.components.count, SystemZone(named: match) != nil { return match }
        }
        return nil
    }

    /// Reads a TZif file of version 2 or newer.
    init?(_ data: Data) {
        var reader = TZifReader(bytes: [UInt8](data))
        guard let old = reader.header(), reader.skip(old.length(timeSize: 4)), let header = reader.header() else {
            return nil
        }
        guard let block = reader.take(header.length(timeSize: 8)), header.types > 0 else { return nil }
        var kinds: [Kind] = []
        let (typeStart, nameStart) = (header.times * 9, header.times * 9 + header.types * 6)
        for index in 0..<header.types {
            let place = typeStart + index * 6
            let offset = Int(Int32(truncatingIfNeeded: TZifReader.number(block, place, 4)))
            let name = block[(nameStart + min(Int(block[place + 5]), header.characters))...].prefix { $0 != 0 }
            guard abs(offset) < 2 * WallTime.daySeconds else { return nil }
            kinds.append(
                Kind(offset: offset, isDaylight: block[place + 4] != 0, name: String(decoding: name, as: UTF8.self)))
        }
        var changes: [Change] = []
        for index in 0..<header.times {
            let kind = Int(block[header.times * 8 + index])
            guard kinds.indices.contains(kind) else { return nil }
            let moment = TZifReader.number(block, index * 8, 8)
            // A file may begin with a change at the beginning of time.
            if moment > -100_000_000_000, moment < 100_000_000_000 {
                changes.append(Change(moment: moment, kind: kinds[kind]))
            }
        }
        self.changes = changes
        first = kinds[0]
        rule = YearlyZoneRule(reader.footer())
    }

    /// The seconds east of UTC at a moment.
    func offset(at moment: Int) -> Int {
        if let last = changes.last, moment < last.moment {
            var (low, high) = (0, changes.count)
            while low < high {
                let middle = (low + high) / 2
                if changes[middle].moment <= moment { low = middle + 1 } else { high = middle }
            }
            return low == 0 ? first.offset : changes[low - 1].kind.offset
        }
        return rule?.offset(at: moment) ?? changes.last?.kind.offset ?? first.offset
    }
}

/// Reads the parts of a TZif file.
private struct TZifReader {
    struct Header {
        let times: Int
        let types: Int
        let characters: Int
        let others: (leaps: Int, standard: Int, universal: Int)

        func length(timeSize: Int) -> Int {
            times * (timeSize + 1) + types * 6 + characters + others.leaps * (timeSize + 4) + others.standard
                + others.universal
        }
    }

    let bytes: [UInt8]
    private var position = 0

    init(bytes: [UInt8]) { self.bytes = bytes }

    mutating func header() -> Header? {
        guard let head = take(44), head.prefix(4).elementsEqual("TZif".utf8), head[4] >= UInt8(ascii: "2") else {
            return nil
        }
        let counts = (0..<6).map { Self.number(head, 20 + $0 * 4, 4) }
        guard counts.allSatisfy({ $0 < 1 << 20 }) else { return nil }
        return Header(
            times: counts[3], types: counts[4], characters: counts[5], others: (counts[2], counts[1], counts[0]))
    }

    mutating func skip(_ count: Int) -> Bool { take(count) != nil }

    mutating func take(_ count: Int) -> [UInt8]? {
        guard count >= 0, bytes.count - position >= count else { return nil }
        defer { position += count }
        return Array(bytes[position..<(position + count)])
    }

    /// The rule at the end of the file, between two line ends.
    func footer() -> String {
        let rest = bytes[position...].drop { $0 == 10 }.prefix { $0 != 10 }
        return String(decoding: rest.prefix(200), as: UTF8.self)
    }

    static func number(_ bytes: [UInt8], _ place: Int, _ size: Int) -> Int {
        Int(truncatingIfNeeded: bytes[place..<(place + size)].reduce(UInt64(0)) { $0 << 8 | UInt64($1) })
    }
}
