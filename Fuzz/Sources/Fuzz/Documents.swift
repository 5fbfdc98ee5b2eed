import Foundation

@testable import HearthAssistant

/// The readers of .docx files, of texts in several encodings and of file names. What they let through is within its limit, and
/// stands between its marks in a prompt.
func fuzzDocument(_ data: Data) {
    let limit = 4096
    var texts: [String] = []
    if let word = typed({ try WordText(data, limit: limit) }) { texts.append(word.text) }
    if let decoded = DecodedText(data, limit: limit) { texts.append(decoded.text) }
    let name = DocumentName.plain(String(decoding: data, as: UTF8.self))
    precondition(!name.isEmpty && name.unicodeScalars.count <= 120, "a name is empty or too long")
    precondition(!name.contains("/") && !name.contains { $0.isNewline }, "a name is a path or has lines")
    for text in texts {
        precondition(text.utf8.count <= limit, "a text is longer than its limit")
        precondition(!text.utf8.contains(0), "a text has a null character")
        let document = Document(name: name, kind: .text, bytes: data.count, text: text)
        let message = AssistantMessage(role: .user, content: document.marked(text), date: .distantPast)
        precondition([message].outsideTexts.count == 1, "a text is not marked as one from outside")
    }
}
