import Foundation
import HearthBase
import HearthCatalog
import HearthHTTP
import HearthPublishing

/// The origin that a publisher's command changes: a folder, or a part of a bucket.
struct PublishPlace: Sendable {
    let text: String
    /// The address of `models.json` for devices.
    var publicURL: URL?

    /// The origin as a later command in another folder names it.
    var absolute: String {
        // A name that is no remote is a folder.
        (try? BucketLocation(text)) == nil ? Path(text).absolute.string : text
    }

    /// The address of `models.json`: the given one, or in the folder of that address.
    static func parsed(_ word: String) -> URL? {
        guard let url = URL(string: word), url.host()?.isEmpty == false, url.user() == nil, url.query() == nil,
            url.scheme == "https" || (url.scheme == "http" && url.isLoopback)
        else { return nil }
        return url.pathExtension == "json" ? url : url.appending(path: "models.json")
    }

    /// The target, and how it is read for an examination.
    struct Opened: Sendable {
        let target: any PublishTarget
        let client: any HTTPClient
        /// The address of `models.json` for the examination.
        let url: URL
        let isBucket: Bool
    }

    /// Finds the folder, or the bucket and its key.
    /// - Throws: `PublishingError` with `remote-unknown` or `remote-unusable`; `FileError`.
    func open(_ context: CommandContext) async throws -> Opened {
        let client = DefaultHTTPClient(version: HearthCommand.version)
        guard let location = try BucketLocation(text) else {
            let target = Publisher.target(folder: Path(text))
            return Opened(target: target, client: client, url: publicURL ?? target.manifestURL, isBucket: false)
        }
        let environment = context.environment
        let access = try await blocking {
            try RemoteSettings.load(environment: environment).access(to: location.remote)
        }
        let target = BucketTarget(
            location, access: access, publicURL: publicURL, client: client, time: context.time)
        guard let publicURL else {
            return Opened(
                target: target, client: SignedClient(client, access: access, time: context.time),
                url: target.manifestURL, isBucket: true)
        }
        return Opened(target: target, client: client, url: publicURL, isBucket: true)
    }
}

extension ValueKind where Value == PublishPlace {
    /// A folder, or REMOTE:bucket/path.
    static var place: Self { ValueKind("a text that is not empty") { $0.isEmpty ? nil : PublishPlace(text: $0) } }
}

extension Option where Value == PublishPlace {
    /// The origin that a command changes.
    static var place: Self {
        Option(
            "to", "ORIGIN", .place, required: "FOLDER or REMOTE:bucket",
            "A folder, made when missing; or REMOTE:bucket/path, with a remote of rclone's configuration. Required.")
    }
}

extension ValueKind where Value == ReleaseChoice {
    /// Published releases, as `family[@version][:variant]`.
    static var publishedReleases: Self {
        ValueKind("a release, as family@version or family@version:variant") { word in
            do {
                guard case .family(let family, let version, let variant) = try ModelReference(parsing: word) else {
                    return nil
                }
                return ReleaseChoice(family: family, version: version, variant: variant)
            } catch let error as CatalogError {
                throw error.asUsage
            }
        }
    }
}
