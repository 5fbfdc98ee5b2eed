import Foundation
import HearthBase

/// Splits a JSON array that arrives in chunks of any size into its elements, each as bytes.
///
/// It finds the elements' ends only; the caller parses them. Linear in the bytes.
package struct JSONArrayStream: Sendable {
    private enum Place { case beforeArray, betweenElements, inElement, inString, afterArray }

    /// The most bytes of one element.
    package let limit: Int
    private var place = Place.beforeArray
    private var depth = 0
    private var isEscaped = false
    private var element: [UInt8] = []

    /// Creates a splitter for a new array.
    package init(limit: Int = 1 << 20) { self.limit = limit }

    /// Whether the array's closing bracket has arrived.
    package var hasEnded: Bool { place == .afterArray }

    /// Takes more bytes and returns the elements that they complete, in order.
    /// - Throws: ``HTTPError`` with `response-too-large` for an element above the limit, `bad-response` for bytes outside an
    ///   array of objects; then the splitter is unusable.
    package mutating func append(_ bytes: [UInt8]) throws -> [Data] {
        var elements: [Data] = []
        for byte in bytes {
            switch place {
            case .inElement, .inString:
                guard element.count < limit else { throw HTTPError.tooLarge(limit: UInt64(limit)) }
                element.append(byte)
                if take(byte) {
                    elements.append(Data(element))
                    element.removeAll(keepingCapacity: element.count < 64 << 10)
                    place = .betweenElements
                }
            case _ where byte == 0x20 || (0x09...0x0D).contains(byte): continue
            case .beforeArray where byte == UInt8(ascii: "["): place = .betweenElements
            case .betweenElements where byte == UInt8(ascii: "]"): place = .afterArray
            case .betweenElements where byte == UInt8(ascii: ","): continue
            case .betweenElements where byte == UInt8(ascii: "{"):
                place = .inElement
                depth = 1
                element.append(byte)
            default:
                throw HTTPError(
                    .badResponse, "the answer is not a list of JSON objects",
                    context: ErrorContext(expected: "a JSON array of objects"))
            }
        }
        return elements
    }

    /// Takes a byte of an element and returns whether it is the last.
    private mutating func take(_ byte: UInt8) -> Bool {
        if place == .inString {
            if isEscaped {
                isEscaped = false
            } else if byte == UInt8(ascii: "\\") {
                isEscaped = true
            } else if byte == UInt8(ascii: "\"") {
                place = .inElement
            }
            return false
        }
        switch byte {
        case UInt8(ascii: "\""): place = .inString
        case UInt8(ascii: "{"), UInt8(ascii: "["): depth += 1
        case UInt8(ascii: "}"), UInt8(ascii: "]"): depth -= 1
        default: break
        }
        return depth == 0
    }
}
