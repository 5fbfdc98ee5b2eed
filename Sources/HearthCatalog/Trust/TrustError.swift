import Foundation
import HearthBase

extension Origin: ErrorDomain {}

/// Signed metadata of an origin was refused. What is installed is not affected.
public typealias TrustError = HearthError<Origin>

extension ErrorCode<Origin> {
    /// A metadata file is malformed: no JSON, a key twice, nested too deep, or a field missing or of the wrong type.
    public static var metadataInvalid: Self { "metadata-invalid" }
    /// A metadata file is larger than it may be.
    public static var metadataTooLarge: Self { "metadata-too-large" }
    /// The origin lacks a metadata file that its signed files name.
    public static var metadataMissing: Self { "metadata-missing" }
    /// Fewer trusted keys signed a metadata file than its role needs.
    public static var tooFewSignatures: Self { "too-few-signatures" }
    /// The origin offers older metadata than this device has seen from it.
    public static var metadataRollback: Self { "metadata-rollback" }
    /// The origin's metadata has expired, so newer metadata may be held back.
    public static var metadataExpired: Self { "metadata-expired" }
    /// A metadata file has another version, length or digest than the signed list says.
    public static var metadataMismatch: Self { "metadata-mismatch" }
    /// No role that may do so lists the file.
    public static var unknownTarget: Self { "unknown-target" }
    /// A signed file arrived with another length or digest.
    public static var targetMismatch: Self { "target-mismatch" }
    /// The search for a file led through too many roles.
    public static var tooManyDelegations: Self { "too-many-delegations" }
    /// The device has no trusted root of the origin.
    public static var noTrustedRoot: Self { "no-trusted-root" }
    /// Another process is reading the origin's metadata.
    public static var trustBusy: Self { "trust-busy" }
    /// A key cannot be read, or cannot sign for the role.
    public static var badKey: Self { "bad-key" }
    /// A key is encrypted, and no passphrase was given.
    public static var passphraseNeeded: Self { "passphrase-needed" }
    /// The passphrase does not open the key.
    public static var passphraseWrong: Self { "passphrase-wrong" }
}

extension HearthError<Origin> {
    static let installedWorks = "What is installed keeps working."

    static func invalid(_ file: String, _ problem: String, field: String? = nil) -> Self {
        Self(
            .metadataInvalid, "\(file) is malformed: \(field.map { "\($0): " } ?? "")\(problem)",
            context: ErrorContext(file: file, field: field, remedy: "Ask the publisher. \(installedWorks)"))
    }

    static func tooLarge(_ file: String, limit: Int) -> Self {
        Self(
            .metadataTooLarge, "\(file) is larger than it may be",
            context: ErrorContext(file: file, expected: "at most \(limit) bytes", remedy: installedWorks))
    }

    static func missing(_ file: String) -> Self {
        Self(
            .metadataMissing, "the origin has no \(file)",
            context: ErrorContext(file: file, remedy: "Try again later, or ask the publisher. \(installedWorks)"))
    }

    static func tooFewSignatures(_ file: String, found: Int, needed: Int) -> Self {
        Self(
            .tooFewSignatures, "\(file) is signed by \(found) of \(needed) trusted keys",
            context: ErrorContext(
                file: file, expected: "\(needed)", found: "\(found)",
                remedy: "Do not use this origin until its publisher explains it. \(installedWorks)"))
    }

    static func rollback(_ file: String, seen: UInt64, found: UInt64?) -> Self {
        Self(
            .metadataRollback, "the origin offers an older \(file) than this device has seen from it",
            context: ErrorContext(
                file: file, expected: "at least \(seen)", found: found.map { "\($0)" } ?? "none",
                remedy: "Ask the publisher, since updates may be held back on the way. \(installedWorks)"))
    }

    static func expired(_ file: String, on date: Date) -> Self {
        Self(
            .metadataExpired, "\(file) expired on \(date.timestamp)",
            context: ErrorContext(
                file: file, found: date.timestamp,
                remedy:
                    "Check this device's clock, then ask the publisher: updates may be held back. \(installedWorks)"))
    }

    /// A signed origin is seen for the first time.
    package static func unknownKeys(_ url: URL, _ fingerprint: SHA256Digest) -> Self {
        Self(
            .noTrustedRoot, "\(url.shown) is signed, and this device does not know its keys yet",
            context: ErrorContext(
                url: url.shown, field: "fingerprint", found: fingerprint.hex,
                remedy:
                    "Compare the fingerprint \(fingerprint.hex) with the publisher's, and trust these keys once."))
    }

    static func mismatch(_ file: String, _ fact: String, expected: String, found: String) -> Self {
        Self(
            .metadataMismatch, "\(file) has another \(fact) than the origin's signed list says",
            context: ErrorContext(
                file: file, field: fact, expected: expected, found: found,
                remedy: "Try again later; if it stays so, ask the publisher. \(installedWorks)"))
    }
}
