import Foundation
import HearthInference

/// Reads pictures that requests carry.
enum PictureData {
    /// The most pictures of one request.
    static let maximumCount = 64

    /// The picture of a `data:` address. Other addresses are refused: the server fetches nothing for a client.
    static func picture(address: String, field: String) throws(APIFailure) -> ChatImage {
        guard address.hasPrefix("data:") else {
            throw .notServed(field, "must be a data URL with the picture in base64: addresses are not fetched")
        }
        guard let comma = address.firstIndex(of: ","), address[..<comma].hasSuffix(";base64") else {
            throw .invalid(field, "a data URL with base64")
        }
        return try picture(base64: String(address[address.index(after: comma)...]), field: field)
    }

    /// The picture in base64.
    static func picture(base64: String, field: String) throws(APIFailure) -> ChatImage {
        guard let data = Data(base64Encoded: base64, options: .ignoreUnknownCharacters), !data.isEmpty else {
            throw .invalid(field, "a picture in base64")
        }
        do {
            return try ChatImage([UInt8](data))
        } catch {
            var failure = APIFailure(error)
            failure.field = field
            throw failure
        }
    }
}
