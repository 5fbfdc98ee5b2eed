import Foundation
import HearthBase
import HearthCatalog
import HearthHTTP

/// The origin that a publisher changes: a folder, or a part of a bucket.
package struct PublishPlace: Sendable {
    package let text: String
    /// The address of `models.json` for devices.
    package var publicURL: URL?

    package init(text: String, publicURL: URL? = nil) { (self.text, self.publicURL) = (text, publicURL) }

    /// The origin as a later command in another folder names it.
    package var absolute: String {
        // A name that is no remote is a folder.
        (try? BucketLocation(text)) == nil ? Path(text).absolute.string : text
    }

    /// Whether it is a repository of an OCI registry, which holds single releases and is no origin.
    package var isRegistry: Bool { text.lowercased().hasPrefix(RegistryReference.scheme) }

    /// The address of `models.json`: the given one, or in the folder of that address.
    package static func parsed(_ word: String) -> URL? {
        guard let url = URL(address: word), url.host()?.isEmpty == false, url.user() == nil, url.query() == nil,
            url.scheme == "https" || (url.scheme == "http" && url.isLoopback)
        else { return nil }
        return Path(url.fileName).fileExtension == "json" ? url : url.below("models.json")
    }

    /// The target, and how it is read for an examination.
    package struct Opened: Sendable {
        package let target: any PublishTarget
        package let client: any HTTPClient
        /// The address of `models.json` for the examination.
        package let url: URL
        package let isBucket: Bool
    }

    /// Finds the folder, or the bucket and its key.
    /// - Throws: `PublishingError` with `remote-unknown` or `remote-unusable`; `FileError`.
    package func open(
        environment: [String: String], client: any HTTPClient, time: TimeSource
    ) async throws -> Opened {
        guard !isRegistry else {
            throw PublishingError(
                .remoteUnusable, "\(text.quoted) is a repository of a registry, which has no models.json",
                context: ErrorContext(
                    field: "to", expected: "a folder or REMOTE:bucket", found: text,
                    remedy: "Only single models are published there."), disposition: .usage)
        }
        guard let location = try BucketLocation(text) else {
            let target = FolderTarget(folder: Path(text), fileSystem: LocalFileSystem())
            return Opened(target: target, client: client, url: publicURL ?? target.manifestURL, isBucket: false)
        }
        let access = try await blocking {
            try RemoteSettings.load(environment: environment).access(to: location.remote)
        }
        let target = BucketTarget(
            location, access: access, publicURL: publicURL, client: client, time: time)
        guard let publicURL else {
            return Opened(
                target: target, client: SignedClient(base: client, access: access, time: time),
                url: target.manifestURL, isBucket: true)
        }
        return Opened(target: target, client: client, url: publicURL, isBucket: true)
    }
}
