import Foundation

/// A record on the disk that people may read: JSON with sorted keys, a line each, and dates in ISO 8601.
protocol DiskRecord: Codable {}

extension DiskRecord {
    /// Reads a record's bytes.
    init(data: Data) throws {
        let decoder = JSONDecoder()
        decoder.dateDecodingStrategy = .iso8601
        self = try decoder.decode(Self.self, from: data)
    }

    /// The record as it is written to the disk.
    func data() throws -> Data {
        let encoder = JSONEncoder()
        encoder.dateEncodingStrategy = .iso8601
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        return try encoder.encode(self) + Data("\n".utf8)
    }
}
