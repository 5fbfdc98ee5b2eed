import Foundation
import HearthBase
import HearthTestSupport
import Testing

@testable import HearthAssistant

/// Texts of .docx files, and what hostile ones do.
@Suite(.timeLimit(.minutes(2))) struct WordTextTests {
    private func text(_ body: String, styles: String? = nil) throws -> String {
        try WordText(MadeDocuments.word(body, styles: styles), limit: 1 << 20).text
    }

    private func code(_ data: Data) -> String? {
        do {
            _ = try WordText(data, limit: 1 << 20)
            return nil
        } catch {
            return (error as? AssistantError)?.code.rawValue ?? "\(error)"
        }
    }

    @Test func paragraphsHeadingsListsAndTablesBecomeLines() throws {
        let body = """
            <w:p><w:pPr><w:pStyle w:val="berschrift1"/><w:tabs><w:tab w:val="left"/></w:tabs></w:pPr>\
            <w:r><w:t>Plan</w:t></w:r></w:p>
            <w:p><w:r><w:t xml:space="preserve">One </w:t></w:r><w:r><w:t>two</w:t><w:tab/><w:t>three</w:t><w:br/>\
            <w:t>four &amp; &#233;</w:t><w:instrText>PAGE</w:instrText></w:r></w:p><w:p/>
            <w:p><w:pPr><w:numPr><w:ilvl w:val="0"/><w:numId w:val="1"/></w:numPr></w:pPr><w:r><w:t>a</w:t></w:r></w:p>
            <w:p><w:pPr><w:numPr><w:ilvl w:val="1"/><w:numId w:val="1"/></w:numPr></w:pPr><w:r><w:t>b</w:t></w:r></w:p>
            <w:tbl><w:tr><w:tc><w:p><w:r><w:t>x</w:t></w:r></w:p><w:p><w:r><w:t>y</w:t></w:r></w:p></w:tc>\
            <w:tc><w:p><w:r><w:t>1|2</w:t></w:r></w:p></w:tc></w:tr><w:tr><w:tc><w:p/></w:tc>\
            <w:tc><w:p><w:r><w:t>z</w:t></w:r></w:p></w:tc></w:tr></w:tbl>
            <mc:AlternateContent xmlns:mc="m"><mc:Choice><w:p><w:r><w:t>once</w:t></w:r></w:p></mc:Choice>\
            <mc:Fallback><w:p><w:r><w:t>twice</w:t></w:r></w:p></mc:Fallback></mc:AlternateContent>
            """
        let styles = "<w:style w:styleId=\"berschrift1\"><w:name w:val=\"heading 1\"/></w:style>"
        #expect(
            try text(body, styles: styles)
                == "# Plan\n\nOne two\tthree\nfour & é\n\n- a\n  - b\n| x y | 1¦2 |\n|  | z |\n\nonce")
    }

    @Test func aLongTextIsCut() throws {
        let word = try WordText(
            MadeDocuments.word(String(repeating: "<w:p><w:r><w:t>0123456789</w:t></w:r></w:p>", count: 100)), limit: 100
        )
        #expect(word.isCut)
        #expect(word.text.utf8.count <= 100)
    }

    @Test(.enabled(if: TestExtent.isFull)) func manyCellsAreReadQuicklyAndBounded() throws {
        let cell = "<w:tc><w:p><w:r><w:t>x</w:t></w:r></w:p></w:tc>"
        let row = "<w:tbl><w:tr>" + String(repeating: cell, count: 300_000)
        let body = MadeDocuments.word(row + "</w:tr></w:tbl><w:p><w:r><w:t>after</w:t></w:r></w:p>")
        let began = ContinuousClock.now
        let whole = try WordText(body, limit: 4 << 20)
        #expect(!whole.isCut && whole.text.hasSuffix("| x |\n\nafter"))
        #expect(whole.text.utf8.count > 1_200_000)
        let cut = try WordText(body, limit: 1 << 20)
        #expect(cut.isCut && cut.text.hasPrefix("| x | x |") && !cut.text.contains("after"))
        #expect((1 << 19...1 << 20).contains(cut.text.utf8.count))
        // Copies of the rows take hours.
        #expect(ContinuousClock.now - began < .seconds(100))
    }

    @Test func emptyCellsAndRowsAreBounded() throws {
        for part in ["<w:tc/>", "<w:tr/>", "<w:tr><w:tc/></w:tr>"] {
            let body = "<w:p><w:r><w:t>before</w:t></w:r></w:p><w:tbl><w:tr>" + String(repeating: part, count: 10_000)
            let word = try WordText(MadeDocuments.word(body + "</w:tr></w:tbl>"), limit: 5000)
            #expect(word.isCut && word.text.hasPrefix("before") && word.text.utf8.count <= 5000, "\(part)")
        }
    }

    @Test func bombsAreRefused() {
        let bomb = MadeDocuments.zip([.init("word/document.xml", letters: WordPackage.maximumPart + (1 << 20))])
        #expect(bomb.count < 1 << 20)
        #expect(code(bomb) == "large-document")
        // What is not read is not unpacked.
        let aside = MadeDocuments.zip([
            .init("word/media/x", letters: WordPackage.maximumPart * 4),
            .init("word/document.xml", "<p><t>small</t></p>"),
        ])
        #expect(code(aside) == nil)
    }

    @Test(arguments: [
        "<!DOCTYPE x [<!ENTITY a \"aaaa\"><!ENTITY b \"&a;&a;&a;&a;\">]>",
        "<!DOCTYPE x SYSTEM \"http://127.0.0.1:9/x.dtd\">",
        "<!DOCTYPE x [<!ENTITY secret SYSTEM \"file:///etc/hostname\">]>", "<!DOCTYPE x>",
    ])
    func declarationsAreRefused(_ head: String) {
        #expect(code(MadeDocuments.word("<w:p><w:r><w:t>&b;</w:t></w:r></w:p>", head: head)) == "unreadable-document")
    }

    @Test func cutAndBrokenFilesAreRefused() {
        let whole = MadeDocuments.word("<w:p><w:r><w:t>words</w:t></w:r></w:p>")
        for count in [4, 30, 100, whole.count / 2, whole.count - 30] {
            #expect(["unreadable-document", "unknown-document"].contains(code(whole.prefix(count))), "\(count)")
        }
        #expect(code(MadeDocuments.word("<w:p><w:t>open")) == "unreadable-document")
        #expect(code(MadeDocuments.word("<w:t>&unknown;</w:t>")) == "unreadable-document")
        let nested = String(repeating: "<w:p>", count: 5000) + "x" + String(repeating: "</w:p>", count: 5000)
        #expect(code(MadeDocuments.word(nested)) == "unreadable-document")
        let twice = MadeDocuments.zip([
            .init("word/document.xml", "<p><t>one</t></p>"), .init("word/document.xml", "<p><t>two</t></p>"),
        ])
        #expect(code(twice) == "unreadable-document")
    }
}
