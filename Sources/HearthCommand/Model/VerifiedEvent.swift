import HearthBase
import HearthDelivery

extension VerificationReport.Outcome {
    /// What is wrong with a file, after its name.
    func sentence(_ expected: Receipt.File) -> String {
        switch self {
        case .intact: "is intact"
        case .missing: "is missing"
        case .notAFile: "is not a file"
        case .wrongSize(let size): "has \(size) bytes instead of \(expected.size)"
        case .changed(let digest): "has the SHA-256 \(digest) instead of \(expected.digest)"
        }
    }

    /// The outcome for programs.
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

extension VerificationReport.Prepared.Outcome {
    /// What is wrong with what was made, after its name.
    func sentence(_ expected: PreparedRelease) -> String {
        switch self {
        case .intact: "is intact"
        case .missing: "is missing"
        case .misshapen: "has other files or lengths than were made"
        case .changed(let digest): "has the SHA-256 \(digest) instead of \(expected.digest)"
        }
    }

    /// The outcome for programs.
    var name: String {
        switch self {
        case .intact: "intact"
        case .missing: "missing"
        case .misshapen: "misshapen"
        case .changed: "changed"
        }
    }
}

/// What hashing a release again showed.
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
    /// What was made of it for this device, with whole paths.
    let prepared: [File]
    let unexpected: [String]

    init(_ report: VerificationReport) {
        family = report.identity.family.name
        version = report.identity.version.name
        variant = report.identity.variant?.name
        intact = report.isIntact
        verified = report.isVerified
        files = report.files.map { File(path: $0.expected.name.string, outcome: $0.outcome.name) }
        prepared = report.prepared.map { File(path: $0.artefact.path.string, outcome: $0.outcome.name) }
        unexpected = report.unexpected
    }
}

/// What mending a release did.
struct RepairedEvent: Encodable {
    var event = "repaired"
    let family: String
    let version: String
    let variant: String?
    let files: [String]
    let alsoMended: [String]
    let fetchedBytes: UInt64
    /// What was made of it for this device and is gone, by paths.
    let dropped: [String]
    /// What is in the place of that now, left out where it is used as it came.
    let remade: String?

    init(_ report: RepairReport) {
        family = report.identity.family.name
        version = report.identity.version.name
        variant = report.identity.variant?.name
        files = report.mended.map(\.string)
        alsoMended = report.alsoMended.map(\.description)
        fetchedBytes = report.fetchedBytes
        dropped = report.dropped.map(\.path.string)
        remade = report.remade?.path.string
    }
}
