import Foundation

/// A record on the disk that people can read: JSON with sorted keys, one key in a line, and dates in ISO 8601.
package protocol DiskRecord: Codable {}

extension DiskRecord {
    /// Reads a record's bytes.
    package init(data: Data) throws {
        let decoder = JSONDecoder()
        decoder.dateDecodingStrategy = .iso8601
        self = try decoder.decode(Self.self, from: data)
    }

    /// The record's bytes for the disk.
    package func data() throws -> Data {
        let encoder = JSONEncoder()
        encoder.dateEncodingStrategy = .iso8601
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        return try encoder.encode(self) + Data("\n".utf8)
    }
}
