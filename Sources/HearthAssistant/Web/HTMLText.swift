import Foundation

#if canImport(CXML)
import CXML
#else
import libxml2
#endif

/// The title and the visible text of a page.
package struct HTMLText: Sendable, Hashable {
    package var title: String
    package var text: String

    /// The most bytes of a page.
    package static let maximumSize = 2 << 20
    /// The most bytes of the text.
    package static let maximumText = 200_000

    /// Reads a page with libxml2's HTML parser, which loads nothing from the network. Blocks.
    /// - Parameter charset: the encoding that the server names; `nil` for the page's own.
    package init(_ data: Data, charset: String? = nil) {
        title = ""
        text = ""
        guard !data.isEmpty, data.count <= Self.maximumSize else { return }
        let options = Int32(
            HTML_PARSE_RECOVER.rawValue | HTML_PARSE_NOERROR.rawValue | HTML_PARSE_NOWARNING.rawValue
                | HTML_PARSE_NONET.rawValue | HTML_PARSE_COMPACT.rawValue)
        let document = data.withUnsafeBytes { bytes in
            htmlReadMemory(
                bytes.bindMemory(to: CChar.self).baseAddress, Int32(bytes.count), nil, Self.known(charset, data),
                options)
        }
        guard let document else { return }
        defer { xmlFreeDoc(document) }
        guard let root = xmlDocGetRootElement(document) else { return }
        var writer = Writer()
        Self.visit(root, &writer)
        title = writer.title.split(whereSeparator: \.isWhitespace).joined(separator: " ")
        text = writer.finished
    }

    /// An encoding that libxml2 can read; UTF-8 if the page is valid UTF-8 and names none.
    private static func known(_ charset: String?, _ data: Data) -> String? {
        if let charset, let handler = xmlFindCharEncodingHandler(charset) {
            xmlCharEncCloseFunc(handler)
            return charset
        }
        let head = String(decoding: data.prefix(2048), as: UTF8.self).lowercased()
        return !head.contains("charset") && String(validating: data, as: UTF8.self) != nil ? "utf-8" : nil
    }

    /// Visits a tree without recursion, because pages nest deeply.
    private static func visit(_ root: xmlNodePtr, _ writer: inout Writer) {
        var node = root
        while true {
            if writer.take(node), let child = node.pointee.children {
                node = child
                continue
            }
            writer.leave(node)
            while node != root, node.pointee.next == nil {
                guard let parent = node.pointee.parent else { return }
                node = parent
                writer.leave(node)
            }
            guard node != root, let next = node.pointee.next else { return }
            node = next
        }
    }

    /// Collects text: white space is joined, and blocks begin new lines.
    private struct Writer {
        var title = ""
        private var text: [UInt8] = []
        private var isTitle = false
        private var needsSpace = false
        private var breaks = 0

        private static let skipped: Set<String> = [
            "script", "style", "noscript", "template", "svg", "math", "iframe", "object", "embed", "canvas", "select",
            "textarea", "button", "datalist", "audio", "video", "map",
        ]
        private static let blocks: Set<String> = [
            "p", "div", "br", "li", "ul", "ol", "dl", "dt", "dd", "table", "tr", "h1", "h2", "h3", "h4", "h5", "h6",
            "section", "article", "header", "footer", "nav", "aside", "main", "form", "pre", "blockquote", "hr",
            "figure", "figcaption", "address", "details", "summary",
        ]

        var finished: String { String(decoding: text, as: UTF8.self) }

        /// - Returns: whether the node's children are visited.
        mutating func take(_ node: xmlNodePtr) -> Bool {
            switch node.pointee.type {
            case XML_TEXT_NODE, XML_CDATA_SECTION_NODE:
                append(node)
                return false
            case XML_ELEMENT_NODE:
                let name = HTMLText.name(of: node)
                if Self.skipped.contains(name) || HTMLText.isHidden(node) { return false }
                if name == "title" { isTitle = true }
                if Self.blocks.contains(name) { breaks = max(breaks, 1) }
                if ["td", "th"].contains(name) { needsSpace = true }
                return true
            default: return false
            }
        }

        mutating func leave(_ node: xmlNodePtr) {
            guard node.pointee.type == XML_ELEMENT_NODE else { return }
            let name = HTMLText.name(of: node)
            if name == "title" { isTitle = false }
            if Self.blocks.contains(name) { breaks = max(breaks, name.hasPrefix("h") || name == "p" ? 2 : 1) }
        }

        private mutating func append(_ node: xmlNodePtr) {
            guard let content = node.pointee.content else { return }
            let bytes = UnsafeBufferPointer(start: content, count: strlen(content))
            if isTitle {
                if title.utf8.count < 1000 { title += String(decoding: bytes.prefix(1000), as: UTF8.self) }
                return
            }
            for byte in bytes {
                guard text.count < HTMLText.maximumText else { return }
                if byte <= 0x20 || byte == 0x7F {
                    needsSpace = true
                    continue
                }
                if breaks > 0 {
                    if !text.isEmpty { text += [UInt8](repeating: 0x0A, count: breaks) }
                } else if needsSpace, !text.isEmpty {
                    text.append(0x20)
                }
                (breaks, needsSpace) = (0, false)
                text.append(byte)
            }
        }
    }

    private static func name(of node: xmlNodePtr) -> String {
        node.pointee.name.map { String(cString: $0).lowercased() } ?? ""
    }

    /// Whether a page hides an element, in which it could address the model unseen.
    private static func isHidden(_ node: xmlNodePtr) -> Bool {
        var attribute = node.pointee.properties
        while let current = attribute {
            let name = current.pointee.name.map { String(cString: $0).lowercased() } ?? ""
            if name == "hidden" { return true }
            if name == "style" || name == "aria-hidden", let value = current.pointee.children?.pointee.content {
                let length = min(strlen(value), 4096)
                let text = String(decoding: UnsafeBufferPointer(start: value, count: length), as: UTF8.self)
                    .lowercased().filter { !$0.isWhitespace }
                if name == "aria-hidden" ? text == "true" : hidingStyles.contains(where: text.contains) { return true }
            }
            attribute = current.pointee.next
        }
        return false
    }

    private static let hidingStyles = [
        "display:none", "visibility:hidden", "font-size:0", "opacity:0;", "color:transparent",
    ]
}
