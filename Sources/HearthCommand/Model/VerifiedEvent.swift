import HearthBase
import HearthCatalog
import HearthDelivery
import HearthStore

extension FileCheck.Outcome {
    /// The problem of a file, to follow its name.
    func sentence(size expected: UInt64, digest expectedDigest: SHA256Digest) -> String {
        switch self {
        case .intact: "is intact"
        case .missing: "is missing"
        case .notAFile: "is not a file"
        case .wrongSize(let size): "has \(size) bytes instead of \(expected)"
        case .changed(let digest): "has the SHA-256 \(digest) instead of \(expectedDigest)"
        }
    }

    /// The outcome as a word for programs.
    var name: String {
        switch self {
        case .intact: "intact"
        case .missing: "missing"
        case .notAFile: "not-a-file"
        case .wrongSize: "wrong-size"
        case .changed: "changed"
        }
    }
}

/// The result of hashing a release.
struct VerifiedEvent: Encodable {
    struct File: Encodable {
        let path: String
        let outcome: String
    }

    var event = "release"
    let family: String
    let version: String
    let variant: String?
    let intact: Bool
    let verified: Bool
    let files: [File]
    /// The release's artifacts, with full paths.
    let prepared: [File]
    let unexpected: [String]

    init(_ report: VerificationReport) {
        family = report.identity.family.name
        version = report.identity.versionName
        variant = report.identity.variant?.name
        intact = report.isIntact
        verified = report.isVerified
        files = report.files.map { File(path: $0.expected.name.string, outcome: $0.outcome.name) }
        prepared = report.artifacts.map { File(path: $0.artifact.path.string, outcome: $0.outcome.name) }
        unexpected = report.unexpected
    }
}

/// The result of repairing a release.
struct RepairedEvent: Encodable {
    var event = "repaired"
    let family: String
    let version: String
    let variant: String?
    let files: [String]
    let alsoRepaired: [String]
    let fetchedBytes: UInt64
    /// The paths of damaged artifacts that were removed.
    let dropped: [String]
    /// The path of the artifact rebuilt instead, absent if the release is used as published.
    let remade: String?

    init(_ report: RepairReport) {
        family = report.identity.family.name
        version = report.identity.versionName
        variant = report.identity.variant?.name
        files = report.repaired.map(\.string)
        alsoRepaired = report.alsoRepaired.map(\.description)
        fetchedBytes = report.fetchedBytes
        dropped = report.dropped.map(\.path.string)
        remade = report.remade?.path.string
    }
}
