import Foundation
import HearthBase
import HearthHTTP

/// The place of an origin: a folder that any web server can serve, or a part of an S3-compatible bucket.
public struct PublishDestination: Sendable {
    let target: any PublishTarget

    /// A folder, made at the first publication.
    public static func folder(_ folder: URL) -> Self {
        Self(target: FolderTarget(folder: Path(folder.path), fileSystem: LocalFileSystem()))
    }

    /// A bucket, or a part of it.
    /// - Parameters:
    ///   - path: the path below which the origin's files are; empty for the whole bucket.
    ///   - endpoint: the server's https address, without a path; http for this machine only.
    ///   - publicURL: the address at which devices read `models.json`, if it is known.
    /// - Throws: ``PublishingError`` with `remote-unusable` for a name, an address or a key that cannot be used.
    public static func bucket(
        _ name: String, path: String = "", endpoint: URL, region: String = "auto", accessKey: String,
        secretKey: String, publicURL: URL? = nil
    ) throws -> Self {
        let text = path.isEmpty ? "s3:\(name)" : "s3:\(name)/\(path)"
        guard let location = try BucketLocation(text) else { throw BucketLocation.unusable(text) }
        let settings = try RemoteSettings(
            text: "",
            environment: [
                "AWS_ACCESS_KEY_ID": accessKey, "AWS_SECRET_ACCESS_KEY": secretKey, "AWS_REGION": region,
                "AWS_ENDPOINT_URL_S3": endpoint.absoluteString,
            ], file: nil)
        return Self(
            target: BucketTarget(
                location, access: try settings.access(to: "s3"), publicURL: publicURL, client: DefaultHTTPClient(),
                time: .system))
    }
}
