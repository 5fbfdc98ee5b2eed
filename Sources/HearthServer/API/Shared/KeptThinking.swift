import Foundation

/// Text that a client keeps for the model without showing it: base64 behind a mark. It is the client's own conversation, and
/// nothing secret.
enum KeptThinking {
    private static let mark = "hearth1."

    static func sealed(_ text: String) -> String { mark + Data(text.utf8).base64EncodedString() }

    /// The text; `nil` for what another server sealed.
    static func text(_ sealed: String?) -> String? {
        guard let sealed, sealed.hasPrefix(mark), let data = Data(base64Encoded: String(sealed.dropFirst(mark.count)))
        else { return nil }
        return String(bytes: data, encoding: .utf8)
    }
}
