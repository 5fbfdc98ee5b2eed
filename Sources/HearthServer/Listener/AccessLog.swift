import HearthBase
import HearthHTTP

extension FinishedExchange {
    /// A line of the access log: method, target, status, bytes of body, range.
    ///
    /// `GET /models/x.gguf 206 1048576 bytes=0-1048575`; the range is `-` if none was granted, and an aborted
    /// exchange has a sixth word, `aborted`. The words never contain a space or control character.
    package var accessLogLine: String {
        let range = range.map(\.requestHeader) ?? "-"
        return "\(Self.word(method)) \(Self.word(target)) \(status) \(bodyBytes) \(range)"
            + (isComplete ? "" : " aborted")
    }

    /// A line of a server's log: id, peer, who called if that is known, method, path without its query, status, bytes,
    /// milliseconds, and the note of the reply.
    func logLine(caller: String? = nil) -> String {
        let milliseconds = Int((duration.seconds * 1000).rounded())
        let words =
            [id, Self.word(peer), caller, Self.word(method), Self.word(String(target.prefix { $0 != "?" }))]
            + ["\(status)", "\(bodyBytes)", "\(milliseconds)ms", note.map(Self.word)]
        return words.compactMap(\.self).joined(separator: " ") + (isComplete ? "" : " aborted")
    }

    static func word(_ text: String) -> String {
        var line = ""
        for byte in text.utf8.prefix(2048) {
            if byte > 0x20 && byte < 0x7F {
                line.unicodeScalars.append(Unicode.Scalar(byte))
            } else {
                line += "%" + [byte].hexadecimal.uppercased()
            }
        }
        return line.isEmpty ? "-" : line
    }
}
