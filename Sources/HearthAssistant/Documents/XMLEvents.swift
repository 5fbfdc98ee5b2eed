import Foundation

#if canImport(CXML)
import CXML
#else
import libxml2
#endif

/// Reads XML from memory with libxml2's streaming reader, which loads nothing from outside. A document with a type declaration
/// is refused, so that it cannot declare entities.
struct XMLEvents {
    enum Event {
        /// An element begins; the name is without its prefix.
        case begin(String, isEmpty: Bool)
        case end(String)
        case text(String)
    }

    /// Calls `take` for each event. `attribute` reads an attribute of the present element by its name without prefix.
    /// - Throws: ``AssistantError`` with `unreadable-document`; what `take` throws. `take` returns `false` to end early.
    static func read(
        _ data: Data, _ take: (Event, _ attribute: (String) -> String?) throws -> Bool
    ) throws {
        guard data.count < Int(Int32.max) else { throw broken }
        let options = Int32(
            XML_PARSE_NONET.rawValue | XML_PARSE_NOERROR.rawValue | XML_PARSE_NOWARNING.rawValue
                | XML_PARSE_COMPACT.rawValue)
        try data.withUnsafeBytes { bytes in
            guard
                let reader = xmlReaderForMemory(
                    bytes.bindMemory(to: CChar.self).baseAddress, Int32(bytes.count), nil, nil, options)
            else { throw broken }
            defer { xmlFreeTextReader(reader) }
            while true {
                let status = xmlTextReaderRead(reader)
                if status == 0 { return }
                guard status == 1 else { throw broken }
                guard let event = try event(reader) else { continue }
                if try !take(event, { attribute($0, reader) }) { return }
            }
        }
    }

    private static var broken: AssistantError { DocumentReader.unreadable("its XML is cut off or damaged") }

    private static func event(_ reader: xmlTextReaderPtr) throws -> Event? {
        let type = UInt32(bitPattern: xmlTextReaderNodeType(reader))
        switch type {
        case XML_READER_TYPE_ELEMENT.rawValue:
            return .begin(name(reader), isEmpty: xmlTextReaderIsEmptyElement(reader) == 1)
        case XML_READER_TYPE_END_ELEMENT.rawValue: return .end(name(reader))
        case XML_READER_TYPE_TEXT.rawValue, XML_READER_TYPE_CDATA.rawValue,
            XML_READER_TYPE_SIGNIFICANT_WHITESPACE.rawValue:
            return xmlTextReaderConstValue(reader).map { .text(String(cString: $0)) }
        case XML_READER_TYPE_DOCUMENT_TYPE.rawValue, XML_READER_TYPE_ENTITY_REFERENCE.rawValue:
            throw DocumentReader.unreadable("its XML declares entities")
        default: return nil
        }
    }

    private static func name(_ reader: xmlTextReaderPtr) -> String {
        xmlTextReaderConstLocalName(reader).map { String(cString: $0) } ?? ""
    }

    private static func attribute(_ wanted: String, _ reader: xmlTextReaderPtr) -> String? {
        guard xmlTextReaderHasAttributes(reader) == 1 else { return nil }
        defer { xmlTextReaderMoveToElement(reader) }
        while xmlTextReaderMoveToNextAttribute(reader) == 1 {
            if name(reader) == wanted { return xmlTextReaderConstValue(reader).map { String(cString: $0) } }
        }
        return nil
    }
}
