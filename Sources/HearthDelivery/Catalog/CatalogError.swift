import Foundation
import HearthBase

/// The codes of ``CatalogError``.
public enum CatalogErrorDomain: ErrorDomain {
    public static var codes: [ErrorCode<Self>] {
        [
            .badReference, .unsupportedReference, .manifestInvalid, .manifestTooLarge, .schemaTooNew, .notAManifest,
            .originUnreachable, .originRefused, .unknownFamily, .familyNeeded, .unknownVersion, .unknownVariant,
            .indexInvalid,
        ]
    }
}

/// A source whose word could not be had, could not be read, or does not offer what was asked for.
public typealias CatalogError = HearthError<CatalogErrorDomain>

extension ErrorCode<CatalogErrorDomain> {
    /// The text is no model reference.
    public static var badReference: Self { "bad-reference" }
    /// The reference is well formed, but this version cannot follow it.
    public static var unsupportedReference: Self { "unsupported-reference" }
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
