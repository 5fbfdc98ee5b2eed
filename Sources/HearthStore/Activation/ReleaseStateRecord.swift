import Foundation
import HearthBase
import HearthCatalog

/// The format of `state.json`.
///
/// ```json
/// { "schemaVersion": 1, "active": "1.1.0~q4_k_m", "previous": "1.0.0~q4_k_m", "pinned": "1.1.0~q4_k_m",
///   "probation": { "release": "1.1.0~q4_k_m", "began": "2026-11-21T10:00:00Z", "answers": 1, "seconds": 12.5 },
///   "heldBack": [ { "release": "1.2.0~q4_k_m", "reason": "…", "since": "2026-11-21T10:00:00Z" } ] }
/// ```
/// Every name is checked when it is read, because it could lead out of the family's folder; numbers and texts are
/// bounded. `probation` and `heldBack` are left out if empty.
struct ReleaseStateRecord: DiskRecord {
    struct Trial: Codable {
        package var release: String
        var began: Date
        package var answers: Int
        package var seconds: Double
    }

    struct Held: Codable {
        package var release: String
        package var reason: String
        package var since: Date

        init(_ held: HeldBack) { (release, reason, since) = (held.release.folderName, held.reason, held.since) }
    }

    var schemaVersion: Int
    package var active: String?
    package var previous: String?
    package var pinned: String?
    package var probation: Trial?
    package var heldBack: [Held]?
}

extension ReleaseState {
    /// Reads a family's record.
    package init(data: Data, family: Family) throws {
        let record = try ReleaseStateRecord(data: data)
        func identity(_ name: String, _ field: String) throws -> ReleaseIdentity {
            guard let identity = ReleaseIdentity(family: family, folderName: name), !HomeLayout.isReserved(identity)
            else { throw DecodingError.damaged("\(field) is not the name of a release") }
            return identity
        }
        guard record.schemaVersion == 1 else { throw DecodingError.damaged("unknown schema \(record.schemaVersion)") }
        let trial = try record.probation.map { trial in
            guard (0...Probation.answersNeeded).contains(trial.answers), trial.seconds.isFinite, trial.seconds >= 0
            else { throw DecodingError.damaged("probation counts what cannot be") }
            return Probation(
                of: try identity(trial.release, "probation"), began: trial.began, answers: trial.answers,
                seconds: trial.seconds)
        }
        let held = record.heldBack ?? []
        guard held.count <= HeldBack.maximumCount else {
            throw DecodingError.damaged("too many releases are held back")
        }
        self.init(
            active: try record.active.map { try identity($0, "active") },
            previous: try record.previous.map { try identity($0, "previous") },
            pinned: try record.pinned.map { try identity($0, "pinned") }, probation: trial,
            heldBack: try held.map {
                HeldBack(try identity($0.release, "heldBack"), reason: $0.reason, since: $0.since)
            })
    }

    /// The bytes of the record for the disk.
    package func data() throws -> Data {
        try ReleaseStateRecord(
            schemaVersion: 1, active: active?.folderName, previous: previous?.folderName, pinned: pinned?.folderName,
            probation: probation.map {
                ReleaseStateRecord.Trial(
                    release: $0.release.folderName, began: $0.began, answers: $0.answers, seconds: $0.seconds)
            },
            heldBack: heldBack.isEmpty ? nil : heldBack.map(ReleaseStateRecord.Held.init)
        ).data()
    }
}
