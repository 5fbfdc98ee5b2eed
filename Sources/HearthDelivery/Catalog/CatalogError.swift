import Foundation
import HearthBase

/// The codes of ``CatalogError``.
public enum CatalogErrorDomain: ErrorDomain {
    public static var codes: [ErrorCode<Self>] {
        [
            .badReference, .manifestInvalid, .manifestTooLarge, .schemaTooNew, .notAManifest,
            .originUnreachable, .originRefused, .unknownFamily, .familyNeeded, .unknownVersion, .unknownVariant,
            .indexInvalid, .catalogRollback, .badEndpoint, .repositoryMissing, .repositoryGated, .revisionMissing,
            .fileMissing, .hubAnswerInvalid, .noKnownModel,
        ]
    }
}

/// A source whose word could not be had, could not be read, or does not offer what was asked for.
public typealias CatalogError = HearthError<CatalogErrorDomain>

extension ErrorCode<CatalogErrorDomain> {
    /// The text is no model reference.
    public static var badReference: Self { "bad-reference" }
    /// A field of the manifest is missing or malformed; the context names it.
    public static var manifestInvalid: Self { "manifest-invalid" }
    /// The manifest is larger than 4 MiB.
    public static var manifestTooLarge: Self { "manifest-too-large" }
    /// The manifest was written for a later version of this library.
    public static var schemaTooNew: Self { "schema-too-new" }
    /// The address leads to a web page or something else that is no manifest.
    public static var notAManifest: Self { "not-a-manifest" }
    /// The origin gives no answer now; it may later.
    public static var originUnreachable: Self { "origin-unreachable" }
    /// The origin answered that it has no manifest there, or not for us.
    public static var originRefused: Self { "origin-refused" }
    /// The catalog has no model of that name.
    public static var unknownFamily: Self { "unknown-family" }
    /// The catalog has several models and none was named.
    public static var familyNeeded: Self { "family-needed" }
    /// The model has no such version.
    public static var unknownVersion: Self { "unknown-version" }
    /// The version has no such variant.
    public static var unknownVariant: Self { "unknown-variant" }
    /// A chunk index that does not hold together.
    public static var indexInvalid: Self { "index-invalid" }
    /// The origin offers an older catalog than this device has seen from it.
    public static var catalogRollback: Self { "catalog-rollback" }
    /// `HF_ENDPOINT` is no address a hub can be asked at.
    public static var badEndpoint: Self { "bad-endpoint" }
    /// The hub has no such repository, or not for us.
    public static var repositoryMissing: Self { "repository-missing" }
    /// The repository is there, and its owner decides who may have its files.
    public static var repositoryGated: Self { "repository-gated" }
    /// The repository has no such branch, tag or commit.
    public static var revisionMissing: Self { "unknown-revision" }
    /// The repository has no such file at that revision.
    public static var fileMissing: Self { "unknown-file" }
    /// The hub's answer is not what a hub answers.
    public static var hubAnswerInvalid: Self { "hub-answer-invalid" }
    /// The repository holds no model of a format that is known.
    public static var noKnownModel: Self { "no-known-model" }
}

extension String {
    /// Whether the text holds nothing that could move a terminal's cursor or make a person read something else.
    func isPlain(except allowed: String = "") -> Bool {
        !unicodeScalars.contains { scalar in
            switch scalar.properties.generalCategory {
            case .control, .lineSeparator, .paragraphSeparator: !allowed.unicodeScalars.contains(scalar)
            case .format: scalar.properties.isBidiControl
            default: false
            }
        }
    }

    /// The text in quotation marks, fit for one line of a terminal: control characters escaped, at most `limit`
    /// characters.
    var quoted: String { quoted(limit: 60) }

    func quoted(limit: Int) -> String {
        var text = ""
        for scalar in unicodeScalars.prefix(limit) {
            switch scalar.properties.generalCategory {
            case .control, .format, .lineSeparator, .paragraphSeparator, .unassigned, .privateUse:
                text += "\\u{\(String(scalar.value, radix: 16))}"
            default: text.unicodeScalars.append(scalar)
            }
        }
        return unicodeScalars.count > limit ? "\"\(text)…\"" : "\"\(text)\""
    }
}

extension URL {
    /// The address as it may be shown: without user, password, query and fragment.
    var shown: String {
        guard var parts = URLComponents(url: self, resolvingAgainstBaseURL: true) else { return scheme ?? "" }
        parts.user = nil
        parts.password = nil
        parts.query = nil
        parts.fragment = nil
        return isFileURL ? path : parts.string ?? ""
    }
}
