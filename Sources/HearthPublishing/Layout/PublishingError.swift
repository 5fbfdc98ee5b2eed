import Foundation
import HearthBase

extension PublishRequest: ErrorDomain {}

/// An error of publishing.
public typealias PublishingError = HearthError<PublishRequest>

extension ErrorCode<PublishRequest> {
    /// The file is missing, empty, a link, or not a model.
    public static var notPublishable: Self { "not-publishable" }
    /// The file's name does not tell the family, and none was given.
    public static var nameNeeded: Self { "name-needed" }
    /// The family made of the file's name is that of another written name.
    public static var nameClash: Self { "name-clash" }
    /// The file's name does not tell the version, and none was given.
    public static var versionNeeded: Self { "version-needed" }
    /// That version and variant is published already, with other bytes.
    public static var releaseExists: Self { "release-exists" }
    /// Two of the files would become the same release.
    public static var releaseTwice: Self { "release-twice" }
    /// The file changed while it was read.
    public static var sourceChanged: Self { "source-changed" }
    /// The origin's manifest describes a single model, so nothing can be added to it.
    public static var originUnusable: Self { "origin-unusable" }
    /// Another process publishes to the same folder.
    public static var publisherBusy: Self { "publisher-busy" }
    /// A part of a model in several files is missing.
    public static var shardMissing: Self { "shard-missing" }
    /// Two files of a release have one name, or both are its projector.
    public static var fileTwice: Self { "file-twice" }
    /// The origin has keys already.
    public static var alreadySigned: Self { "already-signed" }
    /// The origin is signed, and the change came without its keys.
    public static var signatureNeeded: Self { "signature-needed" }
    /// No remote of that name is configured.
    public static var remoteUnknown: Self { "remote-unknown" }
    /// The remote's configuration lacks something, or is of another kind.
    public static var remoteUnusable: Self { "remote-unusable" }
    /// The bucket does not exist, or does not accept the key.
    public static var bucketRefused: Self { "bucket-refused" }
    /// The bucket's server failed, or answered with something else than S3.
    public static var bucketFailed: Self { "bucket-failed" }
    /// The bucket does not hold what was uploaded.
    public static var uploadBroken: Self { "upload-broken" }
    /// The registry does not accept the log-in, or has no such repository.
    public static var registryRefused: Self { "registry-refused" }
    /// The registry failed, or answered with something else than its protocol.
    public static var registryFailed: Self { "registry-failed" }
    /// Another publisher changed the origin during the publication.
    public static var originChanged: Self { "origin-changed" }
    /// Devices cannot use the origin as it is.
    public static var originFaulty: Self { "origin-faulty" }
    /// The origin does not list that release.
    public static var notPublished: Self { "not-published" }
}
