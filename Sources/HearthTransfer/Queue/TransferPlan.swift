import Foundation
import HearthBase

/// The record of a transfer's file: `transfers/<key>/plan.json`. It holds no secrets: addresses come without query and
/// user.
///
/// Removing it cancels the transfer, from any process.
///
/// ```json
/// { "format": 2, "label": "toy-v1.0.0-q4_1.gguf", "locations": ["https://…/toy-v1.0.0-q4_1.gguf"], "sizeBytes": 98400000,
///   "sha256": "…", "tag": "…", "created": "2026-11-21T00:00:00Z", "paused": false }
/// ```
package struct TransferPlan: Sendable, Hashable {
    static let currentFormat = 2
    /// The largest file that is read, in bytes.
    package static let sizeLimit = 1 << 16
    /// The longest tag, in bytes.
    static let tagLimit = 1 << 13

    private let format = TransferPlan.currentFormat
    /// The file's name.
    package var label: String
    /// The addresses of the file, for people.
    package var locations: [String]
    /// Its length; rounded or `nil` where only the server knows.
    package var size: UInt64?
    package var digest: SHA256Digest?
    /// The caller's own note of the file's purpose, without secrets. The queue never reads it.
    package var tag: String?
    package var created: Date
    /// Set while a person has paused the transfer. The process that runs it looks every half second.
    package var isPaused = false
    /// Set after the last attempt brought wrong bytes: no process fetches the file again before a person asks for it.
    package var isCorrupted: Bool?

    /// The plan of a request. A tag longer than 8 KiB is left out.
    package init(_ request: TransferRequest, tag: String? = nil, at date: Date) {
        label = RelativePath(request.label)?.string ?? "unnamed"
        locations = request.locations.prefix(16).map(\.withoutQuery)
        size = request.size.estimate
        digest = request.digest
        self.tag = tag.flatMap { $0.utf8.count <= Self.tagLimit ? $0 : nil }
        created = Date(timeIntervalSince1970: date.timeIntervalSince1970.rounded(.down))
    }
}

extension TransferPlan: DiskRecord {
    private enum CodingKeys: String, CodingKey {
        case format, label, locations, size = "sizeBytes", digest = "sha256", tag, created, isPaused = "paused"
        case isCorrupted = "corrupted"
    }

    package init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        let _: Int = try values.checked(.format, or: "this version reads plans of format 2 only") {
            $0 == Self.currentFormat
        }
        label = try values.checked(.label, or: "not the name of a file") { (text: String) in RelativePath(text) != nil }
        locations = try values.checked(.locations, or: "too many") { (all: [String]) in all.count <= 16 }
        size = try values.checkedIfPresent(.size, or: "no file is so large") { $0 <= UInt64(Int64.max) }
        digest = try values.decodeIfPresent(SHA256Digest.self, forKey: .digest)
        tag = try values.optionalText(.tag, atMost: Self.tagLimit)
        created = try values.decode(Date.self, forKey: .created)
        isPaused = try values.decode(Bool.self, forKey: .isPaused)
        isCorrupted = try values.decodeIfPresent(Bool.self, forKey: .isCorrupted)
    }
}
