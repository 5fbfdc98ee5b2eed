import Foundation
import HearthBase

/// Reads iCalendar and vCard text into components. Every loop is bounded by the number of bytes and ``ContentLimits``.
///
/// Text of another encoding, and text whose lines end in CR alone, is read as ``ImportedText`` decodes it; text in UTF-8 keeps
/// its bytes.
package struct ContentParser: Sendable {
    /// The reason why a text is not read.
    package struct Failure: Error, Sendable, Hashable {
        package let reason: String
    }

    /// The largest texts that are read.
    package struct Limits: Sendable {
        package var bytes = 4 << 20
        package var lines = 50_000
        package var depth = 8
    }

    /// The limits of a file that holds one record.
    package static let record = Limits()
    /// The limits of an imported file that holds many records.
    package static let collection = Limits(bytes: 64 << 20, lines: 4_000_000)

    private let limits: Limits

    package init(limits: Limits = record) { self.limits = limits }

    /// Reads a text.
    /// - Throws: ``Failure`` if it is too large, binary, or not nested rightly.
    package func parse(_ data: Data) throws -> [ContentComponent.Item] {
        guard data.count <= limits.bytes else { throw Failure(reason: "it has more than \(limits.bytes) bytes") }
        let bytes = [UInt8](ImportedText.utf8(data))
        var root: [ContentComponent.Item] = []
        var open: [(name: String, begin: ContentLine, items: [ContentComponent.Item])] = []
        var (position, count) = (0, 0)
        func add(_ item: ContentComponent.Item) {
            if open.isEmpty { root.append(item) } else { open[open.count - 1].items.append(item) }
        }
        while position < bytes.count {
            count += 1
            guard count <= limits.lines else { throw Failure(reason: "it has more than \(limits.lines) lines") }
            let end = try lineEnd(of: bytes, from: position)
            let line = ContentLine(bytes: bytes[position..<end])
            position = end
            switch line.name {
            case "BEGIN":
                guard open.count < limits.depth else {
                    throw Failure(reason: "its components are nested deeper than \(limits.depth)")
                }
                open.append((componentName(line), line, []))
            case "END":
                guard let last = open.popLast(), last.name == componentName(line) else {
                    throw Failure(reason: "an END has no BEGIN")
                }
                add(.component(.init(name: last.name, begin: last.begin, items: last.items, end: line)))
            default: add(.line(line))
            }
        }
        guard open.isEmpty else { throw Failure(reason: "a component has no END") }
        return root
    }

    private func componentName(_ line: ContentLine) -> String {
        line.value.trimmingCharacters(in: .whitespaces).uppercased()
    }

    /// The end of a line with its folds.
    private func lineEnd(of bytes: [UInt8], from start: Int) throws -> Int {
        var position = start
        while true {
            let newline = bytes.withUnsafeBufferPointer { buffer -> Int in
                var index = position
                while index < buffer.count, buffer[index] != 10, buffer[index] != 0 { index += 1 }
                return index
            }
            guard newline < bytes.count else { return bytes.count }
            guard bytes[newline] != 0 else { throw Failure(reason: "it is binary") }
            position = newline + 1
            guard position < bytes.count else { return position }
            if bytes[position] == UInt8(ascii: " ") || bytes[position] == UInt8(ascii: "\t") { continue }
            if isSoftBreak(bytes[start..<newline]) { continue }
            return position
        }
    }

    /// Whether a line that is quoted-printable continues after a `=` at its end, as in vCard 2.1 and vCalendar 1.0.
    private func isSoftBreak(_ line: ArraySlice<UInt8>) -> Bool {
        let end = line.last == 13 ? line.dropLast() : line
        return end.last == UInt8(ascii: "=") && ContentLine.isQuotedPrintable(line)
    }
}
