import Foundation
import HearthBase
import HearthCatalog
import HearthHTTP
import HearthPublishing

extension Publish {
    /// Publishes one release to a repository of a registry.
    func publishToRegistry(_ context: CommandContext) async throws {
        let client = RegistryClient(
            DefaultHTTPClient(version: HearthCommand.version),
            credentials: RegistryCredentials(environment: context.environment))
        let publisher = try RegistryPublisher(place.text, client: client, time: context.time)
        let report = try await publisher.publish(
            request, onProgress: PublishReporter(format, context, sending: "sending").show)
        context.console.showBar(nil)
        switch format {
        case .json: try context.console.emit(RegistryPublishedEvent(report, isDryRun: isDryRun))
        case .text:
            let outcome = report.wasPublished ? "unchanged" : isDryRun ? "would be published" : "published"
            try context.console.print("\(report.identity)  \(ByteCount(report.sentBytes)) sent, \(outcome)")
            context.console.say("hearth pull \(report.reference)")
        }
    }
}

/// The last event of a publication to a registry.
struct RegistryPublishedEvent: Encodable {
    struct File: Encodable {
        let name: String
        let role: String
        let sizeBytes: UInt64
        let sha256: String
    }

    var event = "done"
    /// `oci://host/repository:tag@sha256:…`
    let reference: String
    let family: String
    let version: String
    let variant: String?
    let files: [File]
    /// The bytes of files that the registry did not have.
    let sentBytes: UInt64
    let outcome: String
    let dryRun: Bool

    init(_ report: RegistryPublisher.Report, isDryRun: Bool) {
        reference = report.reference.description
        (family, version) = (report.identity.family.name, report.identity.version.name)
        variant = report.identity.variant?.name
        files = report.files.map {
            File(name: $0.name, role: $0.role.rawValue, sizeBytes: $0.size, sha256: $0.digest.hex)
        }
        sentBytes = report.sentBytes
        outcome = report.wasPublished ? "unchanged" : "published"
        dryRun = isDryRun
    }
}
