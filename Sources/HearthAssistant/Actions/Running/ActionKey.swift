import Foundation
import HearthBase

/// The idempotency key of a block: the same block of the same answer has the same key, and so the same records.
package enum ActionKey {
    /// The first 32 digits of the SHA-256 of the parts, each after its length.
    package static func text(conversation: String, message: String, tag: ActionTag, index: Int) -> String {
        let parts = [conversation, message, tag.rawValue, String(index)]
        let bytes = parts.flatMap { Array("\($0.utf8.count):".utf8) + Array($0.utf8) }
        return String(SHA256Digest(hashing: bytes).hex.prefix(32))
    }
}
