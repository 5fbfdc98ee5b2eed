import Foundation
import HearthBase

extension Release: ErrorDomain {}

/// A source could not be reached or read, or does not offer the requested model.
public typealias CatalogError = HearthError<Release>

extension ErrorCode<Release> {
    /// The text is not a model reference.
    public static var badReference: Self { "bad-reference" }
    /// A field of the manifest is missing or malformed; the context names it.
    public static var manifestInvalid: Self { "manifest-invalid" }
    /// The manifest is larger than 4 MiB.
    public static var manifestTooLarge: Self { "manifest-too-large" }
    /// The manifest needs a later version of this library.
    public static var schemaTooNew: Self { "schema-too-new" }
    /// The address leads to a web page or another file that is not a manifest.
    public static var notAManifest: Self { "not-a-manifest" }
    /// The origin does not answer now; it may later.
    public static var originUnreachable: Self { "origin-unreachable" }
    /// The origin answered that it has no manifest there, or denied access.
    public static var originRefused: Self { "origin-refused" }
    /// The catalog has no model of that name.
    public static var unknownFamily: Self { "unknown-family" }
    /// The catalog has several models, and the reference names none of them.
    public static var familyNeeded: Self { "family-needed" }
    /// The model has no such version.
    public static var unknownVersion: Self { "unknown-version" }
    /// The version has no such variant.
    public static var unknownVariant: Self { "unknown-variant" }
    /// The origin offers an older catalog than this device has seen from it.
    public static var catalogRollback: Self { "catalog-rollback" }
    /// `HF_ENDPOINT` is not a usable address of a hub.
    public static var badEndpoint: Self { "bad-endpoint" }
    /// The hub has no such repository, or denied access.
    public static var repositoryMissing: Self { "repository-missing" }
    /// The repository exists, but its owner must grant access to its files.
    public static var repositoryGated: Self { "repository-gated" }
    /// The repository has no such branch, tag or commit.
    public static var revisionMissing: Self { "unknown-revision" }
    /// The repository has no such file at that revision.
    public static var fileMissing: Self { "unknown-file" }
    /// The hub's answer is malformed.
    public static var hubAnswerInvalid: Self { "hub-answer-invalid" }
    /// The registry's answer is malformed, or other bytes than its digest says.
    public static var registryAnswerInvalid: Self { "registry-answer-invalid" }
    /// The repository holds no model of a known format.
    public static var noKnownModel: Self { "no-known-model" }
    /// The name of a local file cannot become a model's name.
    public static var unusableName: Self { "unusable-name" }
    /// An address that should be a model file leads to none.
    public static var noFile: Self { "no-file" }
    /// The family made of a local file's name is that of another written name on this device.
    public static var nameClash: Self { "name-clash" }
}

extension URL {
    /// The address as it may be shown: without user, password, query and fragment.
    package var shown: String {
        if isFileURL { return path }
        return withoutSecrets?.absoluteString ?? scheme ?? ""
    }
}
