import Foundation
import HearthBase

/// What an examination of a live origin found.
package struct OriginReport: Sendable, Hashable, Encodable {
    /// A finding.
    package struct Finding: Sendable, Hashable, Encodable {
        /// The weight of a finding.
        package enum Weight: String, Sendable, Hashable, Encodable {
            /// Devices cannot use the file or the catalog.
            case fault
            /// It works, and could work better.
            case advice
        }

        package let weight: Weight
        /// The address, without its query.
        package let address: String
        /// The problem, as the end of a sentence about the address.
        package let problem: String
    }

    /// The address of the catalog.
    package let manifest: String
    package internal(set) var serial: UInt64?
    package internal(set) var releases = 0
    /// The files that were read, at least in part.
    package internal(set) var files = 0
    /// The bytes that were read and compared with a digest.
    package internal(set) var comparedBytes: UInt64 = 0
    /// Whether the origin has signed metadata.
    package internal(set) var isSigned = false
    package internal(set) var findings: [Finding] = []

    private enum CodingKeys: String, CodingKey {
        case manifest, serial, releases, files, comparedBytes, findings
        case isSigned = "signed"
    }

    init(manifest: String) { self.manifest = manifest }

    /// The findings with which devices cannot use the origin.
    package var faults: [Finding] { findings.filter { $0.weight == .fault } }

    mutating func add(_ weight: Finding.Weight, _ url: URL, _ problem: String) {
        let finding = Finding(weight: weight, address: url.withoutQueryText, problem: problem)
        if !findings.contains(finding) { findings.append(finding) }
    }

    /// The error for an origin with faults.
    /// - Throws: ``PublishingError`` with `origin-faulty`.
    package func requireUsable() throws {
        guard let first = faults.first else { return }
        let others = faults.count > 1 ? ", and \(faults.count - 1) more" : ""
        throw PublishingError(
            .originFaulty, "devices cannot use the origin: \(first.address) \(first.problem)\(others)",
            context: ErrorContext(
                url: manifest, remedy: "Correct it, and examine the origin again."))
    }
}

extension URL {
    /// The address for messages.
    var withoutQueryText: String {
        guard var parts = URLComponents(url: self, resolvingAgainstBaseURL: true) else { return "the address" }
        parts.query = nil
        parts.fragment = nil
        return parts.string ?? "the address"
    }
}
