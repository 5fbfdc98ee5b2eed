import Foundation
import HearthBase
import HearthHTTP

/// The places of an origin's files.
///
/// ```
/// models.json                             the catalog
/// models/{name}-v{x.y.z}-{quant}.gguf     the weights, or an archive of them
/// models/{digest}-{name}.gguf             companions, shared by releases
/// models/….index                          their chunk indexes
/// classes/{digest}/{name}.txt             lists of classes
/// classes/{name}.txt                      the same, beside the manifest of one model
/// targets/{sha256}.models.json            copies of the catalog
/// metadata/                               signed metadata
/// ```
package enum OriginPlaces {
    package static let models = "models"
    package static let classes = "classes"
    package static let copies = "targets"

    /// A place written by this package or checked before; `nil` is not possible for the names that are used here.
    package static func checked(_ text: String) throws -> RelativePath {
        guard let place = RelativePath(text) else {
            throw PublishingError(.nameNeeded, "\(text.quoted) cannot be a place in an origin")
        }
        return place
    }

    /// The place as an address relative to the manifest.
    static func address(of place: RelativePath) -> String { PercentText.encoded(place.string, keepsSlashes: true) }

    static func model(_ name: PathComponent) throws -> RelativePath { try checked("\(models)/\(name)") }

    package static var catalog: RelativePath { get throws { try checked("models.json") } }

    /// The place of a list of classes beside a manifest in the single-model dialect.
    static func classList(_ version: String, beside manifest: RelativePath) throws -> RelativePath {
        let folder = manifest.parent.map { "\($0)/" } ?? ""
        return try checked("\(folder)\(classes)/\(version).txt")
    }

    /// The place of a catalog's copy.
    static func copy(of digest: SHA256Digest) throws -> RelativePath {
        try checked("\(copies)/\(digest.hex).models.json")
    }
}

/// The headers of an origin's files.
package enum OriginHeaders {
    /// For files whose name never gets other bytes.
    package static let immutable = "public, max-age=31536000, immutable"
    /// For the catalog and the timestamp.
    package static let changing = "no-cache, no-store"

    /// The media type by a file's name.
    package static func contentType(of name: String) -> String {
        switch Path(name).fileExtension {
        case "json": "application/json"
        case "txt": "text/plain; charset=utf-8"
        case "zip": "application/zip"
        default: "application/octet-stream"
        }
    }
}
