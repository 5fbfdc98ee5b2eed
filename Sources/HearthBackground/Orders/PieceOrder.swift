import Foundation
import HearthBase
import HearthHTTP

/// The order that a task of the system carries: one range of one file.
///
/// It stands in the task's description, since the launch that gets the task's file may remember nothing. Its digest also
/// names the place of the bytes: the transfer's folder in the home, `transfers/<sha256>`.
package struct PieceOrder: Sendable, Hashable {
    /// Unique among all orders of a home: reports of an earlier task for the same range are told apart by it.
    package let id: String
    /// The SHA-256 of the whole file.
    package let digest: SHA256Digest
    /// The length of the whole file in bytes.
    package let size: UInt64
    /// The ordered bytes of the file; never empty.
    package let range: Range<UInt64>
    /// The earlier tasks for these bytes that ended without them.
    package let attempt: Int
    /// The address to request.
    package let address: URL

    /// The largest description that is read, in bytes.
    private static let sizeLimit = 1 << 14

    package init(
        id: String, digest: SHA256Digest, size: UInt64, range: Range<UInt64>, attempt: Int = 0, address: URL
    ) {
        self.id = id
        self.digest = digest
        self.size = size
        self.range = range
        self.attempt = attempt
        self.address = address
    }

    /// Reads a task's description; `nil` for that of another program, or a damaged one.
    package init?(description: String?) {
        // A text of another form is no order of ours.
        guard let description, description.utf8.count <= Self.sizeLimit,
            let order = try? JSON.value(Self.self, Data(description.utf8))
        else { return nil }
        self = order
    }

    /// The text for a task's description.
    package var description: String {
        get throws { try JSON.text(self) }
    }

    /// Whether the order is for the whole file.
    package var isWhole: Bool { range == 0..<size }

    /// The value of the request's field `Range`; `nil` for the whole file.
    package var rangeField: String? { isWhole ? nil : "bytes=\(range.lowerBound)-\(range.upperBound - 1)" }
}

extension PieceOrder: Codable {
    private enum CodingKeys: String, CodingKey {
        case format, id, digest = "sha256", size = "sizeBytes", start, end, attempt, address = "url"
    }

    private static let format = 1

    package init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        try values.require(format: Self.format, .format)
        id = try values.text(.id)
        digest = try values.decode(SHA256Digest.self, forKey: .digest)
        size = try values.checked(.size, or: "no file is so large") { $0 <= UInt64(Int64.max) }
        let start = try values.decode(UInt64.self, forKey: .start)
        let end = try values.decode(UInt64.self, forKey: .end)
        guard start < end, end <= size else { throw values.refusal(.end, "no range of the file") }
        range = start..<end
        attempt = try values.checked(.attempt, or: "no number of attempts") { (0...1000).contains($0) }
        guard let address = URL(address: try values.decode(String.self, forKey: .address)),
            ["http", "https"].contains(address.scheme)
        else { throw values.refusal(.address, "no address of a file on the web") }
        self.address = address
    }

    package func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: CodingKeys.self)
        try values.encode(Self.format, forKey: .format)
        try values.encode(id, forKey: .id)
        try values.encode(digest, forKey: .digest)
        try values.encode(size, forKey: .size)
        try values.encode(range.lowerBound, forKey: .start)
        try values.encode(range.upperBound, forKey: .end)
        try values.encode(attempt, forKey: .attempt)
        try values.encode(address.absoluteString, forKey: .address)
    }
}
