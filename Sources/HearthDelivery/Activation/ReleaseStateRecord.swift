import Foundation
import HearthBase

/// `state.json` as it is written.
///
/// ```json
/// { "schemaVersion": 1, "active": "1.1.0~q4_k_m", "previous": "1.0.0~q4_k_m", "pinned": "1.1.0~q4_k_m",
///   "probation": { "release": "1.1.0~q4_k_m", "began": "2026-11-21T10:00:00Z", "answers": 1, "seconds": 12.5 },
///   "heldBack": [ { "release": "1.2.0~q4_k_m", "reason": "…", "since": "2026-11-21T10:00:00Z" } ],
///   "heldBackContents": [ { "release": "1.1.0~q4_k_m", "content": "…", "promised": "…", "reason": "…",
///                           "since": "2026-11-21T10:00:00Z" } ] }
/// ```
/// Every name is checked when it is read, as any of them could lead out of the family's folder; numbers and texts are
/// bounded. Earlier versions read the file without the last three and lose them when they write it.
struct ReleaseStateRecord: DiskRecord {
    struct Trial: Codable {
        var release: String
        var began: Date
        var answers: Int
        var seconds: Double
    }

    struct Held: Codable {
        var release: String
        var reason: String
        var since: Date
        /// Beside `heldBackContents` only.
        var content: SHA256Digest?
        /// Beside those too; records of earlier versions lack it.
        var promised: SHA256Digest?

        init(_ held: HeldBack) {
            (release, reason, since) = (held.release.folderName, held.reason, held.since)
            (content, promised) = (held.content, held.promised)
        }
    }

    var schemaVersion: Int
    var active: String?
    var previous: String?
    var pinned: String?
    var probation: Trial?
    var heldBack: [Held]?
    var heldBackContents: [Held]?
}

extension ReleaseState {
    /// Reads a family's record.
    init(data: Data, family: Family) throws {
        let record = try ReleaseStateRecord(data: data)
        func refuse(_ why: String) -> DecodingError {
            DecodingError.dataCorrupted(DecodingError.Context(codingPath: [], debugDescription: why))
        }
        func identity(_ name: String, _ field: String) throws -> ReleaseIdentity {
            guard let identity = ReleaseIdentity(family: family, folderName: name), !HomeLayout.isReserved(identity)
            else { throw refuse("\(field) is not the name of a release") }
            return identity
        }
        guard record.schemaVersion == 1 else { throw refuse("unknown schema \(record.schemaVersion)") }
        let trial = try record.probation.map { trial in
            guard (0...Probation.answersNeeded).contains(trial.answers), trial.seconds.isFinite, trial.seconds >= 0
            else { throw refuse("probation counts what cannot be") }
            return Probation(
                of: try identity(trial.release, "probation"), began: trial.began, answers: trial.answers,
                seconds: trial.seconds)
        }
        let (held, contents) = (record.heldBack ?? [], record.heldBackContents ?? [])
        guard max(held.count, contents.count) <= HeldBack.maximumCount else {
            throw refuse("too many releases are held back")
        }
        self.init(
            active: try record.active.map { try identity($0, "active") },
            previous: try record.previous.map { try identity($0, "previous") },
            pinned: try record.pinned.map { try identity($0, "pinned") }, probation: trial,
            heldBack: try held.map {
                HeldBack(try identity($0.release, "heldBack"), reason: $0.reason, since: $0.since)
            },
            heldBackContents: try contents.map {
                guard let content = $0.content else { throw refuse("heldBackContents lacks the digest of its bytes") }
                return HeldBack(
                    try identity($0.release, "heldBackContents"), content: content, promised: $0.promised,
                    reason: $0.reason, since: $0.since)
            })
    }

    /// The record as it is written to the disk.
    func data() throws -> Data {
        try ReleaseStateRecord(
            schemaVersion: 1, active: active?.folderName, previous: previous?.folderName, pinned: pinned?.folderName,
            probation: probation.map {
                ReleaseStateRecord.Trial(
                    release: $0.release.folderName, began: $0.began, answers: $0.answers, seconds: $0.seconds)
            },
            heldBack: heldBack.isEmpty ? nil : heldBack.map(ReleaseStateRecord.Held.init),
            heldBackContents: heldBackContents.isEmpty ? nil : heldBackContents.map(ReleaseStateRecord.Held.init)
        ).data()
    }
}
