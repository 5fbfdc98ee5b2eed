import HearthBase
import HearthCatalog
import HearthPublishing

/// A reading of a publication under way.
struct PublishingEvent: Encodable {
    var event = "progress"
    /// `hashing`, then `copying` into a folder or `sending` to a bucket.
    let phase: String
    let file: String
    let completedBytes: UInt64
    let totalBytes: UInt64

    init(_ progress: PublishProgress, _ phase: String) {
        self.phase = phase
        file = progress.file.lastComponent
        (completedBytes, totalBytes) = (progress.completedBytes, progress.totalBytes)
    }
}

/// The last event of a successful publication.
struct PublishedEvent: Encodable {
    struct File: Encodable {
        let name: String
        let role: String
        let path: String
        let sizeBytes: UInt64
        let sha256: String
    }

    struct Item: Encodable {
        let family: String
        let version: String
        let variant: String?
        let path: String
        let sizeBytes: UInt64
        let sha256: String
        let files: [File]
        let outcome: String
        let current: Bool
    }

    var event = "done"
    /// An upload.
    struct Step: Encodable {
        let place: String
        let kind: String
        let sizeBytes: UInt64
        let cacheControl: String
    }

    let manifest: String
    let serial: UInt64
    let dryRun: Bool
    let releases: [Item]
    /// The uploads in their order.
    let steps: [Step]
    /// The bytes that were read back and compared, `nil` if nothing was.
    let comparedBytes: UInt64?

    init(_ report: PublishReport, _ found: OriginReport?, isDryRun: Bool) {
        steps = report.plan.steps.map {
            Step(
                place: $0.place.string, kind: "\($0.kind)", sizeBytes: $0.size, cacheControl: $0.cacheControl)
        }
        comparedBytes = found?.comparedBytes
        manifest = report.manifest.string
        serial = report.serial
        dryRun = isDryRun
        releases = report.items.map { item in
            Item(
                family: item.identity.family.name, version: item.identity.version.name,
                variant: item.identity.variant?.name, path: item.path.string, sizeBytes: item.size,
                sha256: item.digest.description,
                files: item.files.map {
                    File(
                        name: $0.name, role: $0.role.rawValue, path: $0.path.string, sizeBytes: $0.size,
                        sha256: $0.digest.hex)
                }, outcome: item.outcome.rawValue, current: item.isCurrent)
        }
    }
}
