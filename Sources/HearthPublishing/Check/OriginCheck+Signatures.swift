import Foundation
import HearthBase
import HearthCatalog
import HearthHTTP

/// The signatures of an origin, as a device that trusts its root verifies them.
extension OriginCheck {
    /// Verifies the signed metadata, and the files that it lists: the catalog's copy in any case, others up to
    /// ``smallSize``, or all of them in a complete examination.
    func examineSignatures(_ url: URL, _ catalog: Data, _ report: inout OriginReport) async throws {
        let origin = Origin(name: "origin", manifestURL: url)
        let timestamp = origin.metadataURL.below("timestamp.json")
        guard let response = try await open(timestamp, nil, &report, isOptional: true), response.status == 200 else {
            return
        }
        report.isSigned = true
        if !url.isFileURL, !Self.isChanging(response.headers["Cache-Control"]) {
            report.add(.advice, timestamp, "has no Cache-Control: \(OriginHeaders.changing)")
        }
        let inspection = TrustInspection(metadata: origin.metadataURL, http: client)
        let signed: TrustInspection.Signed
        do {
            signed = try await inspection.run(now: time.now)
        } catch let error as any HearthFailure {
            return report.add(.fault, origin.metadataURL, "\(Self.refused): \(error.message)")
        }
        let list = url.fileName
        if signed.targets.files[list]?.digests.match(catalog) != true {
            report.add(.advice, url, "is not the list that was signed last, so that devices with a root do not see it")
        }
        for file in signed.targets.files.values.sorted(by: { $0.path < $1.path }) {
            let isExamined = file.path == list || isComplete || (only == nil && file.length <= Self.smallSize)
            guard isExamined else { continue }
            do {
                let data = try await inspection.download(
                    file, of: signed, below: origin.targetsURL, limit: Self.largestSigned)
                report.comparedBytes += UInt64(data.count)
            } catch let error as any HearthFailure {
                report.add(.fault, origin.targetsURL, "\(Self.refused): \(error.message)")
            }
        }
    }

    private static let refused = "is refused by devices that trust the origin"
    /// The largest signed file that is read: the limit of a chunk index.
    private static let largestSigned = 64 << 20
}
