import Foundation

@testable import HearthAssistant

/// Scans an answer whole, in both halves around a place that its first byte chooses, and character by character: text and
/// blocks are the same. Payloads decode or are refused.
func fuzzActionBlocks(_ data: Data) {
    let scalars = Array(String(decoding: data.dropFirst(), as: UTF8.self).unicodeScalars)
    let cut = Int(data.first ?? 0) * scalars.count / 256
    func scan(_ pieces: [ArraySlice<Unicode.Scalar>]) -> (text: String, blocks: [ScannedBlock]) {
        var scanner = BlockScanner(tags: ActionTag.order)
        var text = ""
        for piece in pieces { text += scanner.append(String(String.UnicodeScalarView(piece))) }
        let end = scanner.finish()
        return (text + end.text, end.blocks)
    }
    let whole = scan([scalars[...]])
    precondition(whole == scan([scalars[..<cut], scalars[cut...]]), "text or blocks depend on the cut")
    precondition(whole == scan(scalars.indices.map { scalars[$0...$0] }), "text or blocks depend on the pieces")
    precondition(whole.text.utf8.count <= scalars.count * 4, "the text is longer than the answer")
    for block in whole.blocks {
        precondition(block.payload.hasPrefix("{"), "a payload is no object")
        decode(QueryPayload.self, block.payload) { [$0.query] }
        decode(CalendarPayload.self, block.payload) { [$0.title, $0.location, $0.recurrence].compactMap { $0 } }
        decode(NotePayload.self, block.payload) { [$0.title, $0.query].compactMap { $0 } }
        decode(HabitPayload.self, block.payload) { [$0.name].compactMap { $0 } }
        decode(ReminderPayload.self, block.payload) { [$0.title].compactMap { $0 } }
    }
    for word in whole.text.split(separator: " ").prefix(20) {
        guard let time = PayloadTime(String(word)) else { continue }
        for zone in ["UTC", "Europe/Berlin", "Pacific/Apia", "America/Sao_Paulo"].compactMap({
            TimeZone(identifier: $0)
        }) {
            let moment = time.date(in: zone).timeIntervalSince1970
            precondition(abs(moment - Double(time.day) * 86_400) <= 3 * 86_400, "a time is far from its day")
        }
    }
}

private func decode<Payload: Decodable & Sendable>(
    _ type: Payload.Type, _ text: String, lines: (Payload) -> [String]
) {
    guard let decoded = try? PayloadDecoder.decode(type, text, fields: ["action"]) else { return }
    for line in lines(decoded.payload) {
        precondition(!line.isEmpty && line.count <= PayloadLimit.line, "a line is empty or too long")
        precondition(!line.unicodeScalars.contains(where: PayloadText.isHidden), "a line has hidden characters")
    }
    // The text that a person edits means the same.
    precondition(
        (try? PayloadDecoder.decode(type, decoded.text, fields: ["action"]))?.text == decoded.text,
        "a repaired payload changes when it is read again")
}
