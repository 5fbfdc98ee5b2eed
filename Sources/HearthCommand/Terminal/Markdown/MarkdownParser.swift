import CMarkdown
import Foundation

/// Parses Markdown with cmark-gfm: CommonMark with tables, strikethrough, addresses as links, and tasks.
///
/// Nesting beyond ``deepest`` levels is shown without indentation. The caller bounds the length of the text.
enum MarkdownParser {
    /// The levels of quotes and lists that are shown as such.
    static let deepest = 12

    /// cmark-gfm changes tables of the whole process while it parses.
    private static let turn = NSLock()

    private nonisolated(unsafe) static let extensions: [OpaquePointer] = {
        cmark_gfm_core_extensions_ensure_registered()
        return ["table", "strikethrough", "autolink", "tasklist"].compactMap { (name: String) in
            cmark_find_syntax_extension(name)
        }
    }()

    /// The top-level blocks of a text without control characters.
    static func blocks(_ source: String) -> [MarkdownBlock] {
        let root = turn.withLock { Tree(source) }
        let lines = source.utf8.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        return MarkdownReader(lines: lines).blocks(in: root.node, depth: 0)
    }

    /// A parsed document; frees it at the end.
    private final class Tree: Sendable {
        nonisolated(unsafe) let node: OpaquePointer?

        init(_ source: String) {
            let parser = cmark_parser_new(CMARK_OPT_STRIKETHROUGH_DOUBLE_TILDE)
            for item in MarkdownParser.extensions {
                cmark_parser_attach_syntax_extension(parser, item)
            }
            var source = source
            source.withUTF8 { bytes in
                bytes.withMemoryRebound(to: CChar.self) { cmark_parser_feed(parser, $0.baseAddress, $0.count) }
            }
            node = cmark_parser_finish(parser)
            cmark_parser_free(parser)
        }

        deinit { cmark_node_free(node) }
    }
}
