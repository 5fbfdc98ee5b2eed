import HearthBase

/// The places of the pairs and tables in a TOML text.
struct TOMLOutline {
    /// A pair of a key and a value.
    struct Pair {
        /// The keys from the root.
        var path: [String]
        /// The keys as the line has them, without those of the table.
        var written: [String]
        /// The beginning of the key.
        var start: Int
        var value: Range<Int>
    }

    /// A table, from its header to the next one. The first has no header.
    struct Table {
        var path: [String]
        /// `nil` for the beginning of the text.
        var header: Range<Int>?
        /// Whether it is an item of a list of tables, or within one.
        var isInList = false
        var pairs: [Pair] = []
    }

    private(set) var tables: [Table] = [Table(path: [], header: nil)]
    private(set) var value: JSONValue = [:]

    private var reader: TOMLReader
    /// The tables that headers and pairs have closed for other definitions.
    private var headers: Set<[String]> = []
    private var lists: Set<[String]> = []

    /// - Throws: ``ConfigurationTextError``
    init(_ bytes: [UInt8]) throws(ConfigurationTextError) {
        reader = TOMLReader(bytes)
        while true {
            reader.skipLines()
            guard let byte = reader.peek else { return }
            if byte == UInt8(ascii: "[") { try header() } else { try pair() }
            try reader.endLine()
        }
    }

    private mutating func header() throws(ConfigurationTextError) {
        let start = reader.position
        let isItem = reader.take("[[")
        if !isItem { _ = reader.take("[") }
        let path = try reader.keys()
        guard reader.take(isItem ? "]]" : "]") else { throw reader.failure("the header of a table has no end") }
        let isInList = isItem || lists.contains { path.starts(with: $0) }
        if isItem {
            guard !headers.contains(path) else { throw reader.failure("the table is defined twice") }
            lists.insert(path)
            // Tables in the next item may have the names of those in the one before.
            headers = headers.filter { !$0.starts(with: path) }
        } else {
            guard headers.insert(path).inserted, !lists.contains(path) else {
                throw reader.failure("the table is defined twice")
            }
        }
        guard let next = place(isItem ? .array([]) : .object([:]), path, appends: isItem, into: value) else {
            throw reader.failure("the table has the name of a value")
        }
        value = next
        tables.append(Table(path: path, header: start..<reader.position, isInList: isInList))
    }

    private mutating func pair() throws(ConfigurationTextError) {
        let start = reader.position
        let written = try reader.keys()
        guard reader.take("=") else { throw reader.failure("an equals sign is expected here") }
        reader.skipSpaces()
        let begin = reader.position
        let found = try reader.value(depth: 0)
        let table = tables[tables.count - 1]
        let path = table.path + written
        guard let next = place(found, path, appends: false, into: value) else {
            throw reader.failure("the key is defined twice")
        }
        value = next
        tables[tables.count - 1].pairs.append(
            Pair(path: path, written: written, start: start, value: begin..<reader.position))
    }

    /// A value with another one at the end of a path; lists lead to their last items.
    /// - Returns: `nil` if the path leads through other values, or to a value that exists.
    private func place(_ new: JSONValue, _ path: [String], appends: Bool, into old: JSONValue?) -> JSONValue? {
        guard let key = path.first else {
            if appends { return .array((old?.items ?? []) + [.object([:])]) }
            guard let old else { return new }
            // The header of a table that other headers have made.
            return new == .object([:]) && old.members != nil ? old : nil
        }
        if let items = old?.items {
            guard let last = items.last, let inner = place(new, path, appends: appends, into: last) else { return nil }
            return .array(items.dropLast() + [inner])
        }
        guard var members = (old ?? [:]).members,
            let inner = place(new, Array(path.dropFirst()), appends: appends, into: members[key])
        else { return nil }
        members[key] = inner
        return .object(members)
    }
}
