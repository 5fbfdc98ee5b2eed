import Foundation
import HearthBase

/// A picture in a conversation: a JPEG, PNG or BMP file in memory.
///
/// ```swift
/// let picture = try ChatImage([UInt8](Data(contentsOf: url)))
/// print(try await session.respond(to: "What is this?", images: [picture]).content)
/// ```
/// The initialiser checks the whole file. It refuses a broken or huge picture, so that no answer fails because of it.
public struct ChatImage: Sendable, Hashable, Codable {
    /// The file.
    public let bytes: [UInt8]
    /// The facts of the file's header.
    package let header: ImageHeader
    /// The digest of the file. Equal files are one picture and are encoded once.
    public let digest: SHA256Digest

    /// Makes a picture of a file's bytes.
    /// - Throws: `cannot-read-picture`; `picture-too-large` for more than 32 MiB, 2^26 pixels or 256 MiB unpacked.
    public init(_ bytes: [UInt8]) throws {
        header = try ImageHeader(bytes)
        self.bytes = bytes
        digest = SHA256Digest(hashing: bytes)
    }

    public static func == (left: Self, right: Self) -> Bool { left.digest == right.digest }

    public func hash(into hasher: inout Hasher) { hasher.combine(digest) }

    /// Reads the file as base64.
    public init(from decoder: any Decoder) throws {
        try self.init([UInt8](decoder.singleValueContainer().decode(Data.self)))
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(Data(bytes))
    }
}
