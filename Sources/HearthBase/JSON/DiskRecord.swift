import Foundation

/// A record on the disk that people can read: JSON with sorted keys, one key in a line, and dates in ISO 8601.
package protocol DiskRecord: Codable {}

extension DiskRecord {
    /// Reads a record's bytes.
    package init(data: Data) throws { self = try JSON.value(Self.self, data) }

    /// The record's bytes for the disk.
    package func data() throws -> Data { try JSON.data(self, isPretty: true) + Data("\n".utf8) }
}
