import Foundation
import HearthBase

/// What is recorded about a family's releases: `state.json`.
///
/// ```json
/// { "schemaVersion": 1, "active": "1.1.0~q4_k_m", "previous": "1.0.0~q4_k_m", "pinned": "1.1.0~q4_k_m" }
/// ```
/// The link `active` decides what is live, because it is switched first, in one step; this file knows the way back.
/// `reconciled(with:)` brings both together after an interruption between the two.
public struct ReleaseState: Sendable, Hashable {
    /// The live release.
    public internal(set) var active: ReleaseIdentity?
    /// The release that was live before.
    public internal(set) var previous: ReleaseIdentity?
    /// The release the user holds on to; updates leave it alone.
    public internal(set) var pinned: ReleaseIdentity?

    /// The largest file that is read, in bytes.
    static let sizeLimit: UInt64 = 1 << 16

    /// Nothing recorded.
    init(active: ReleaseIdentity? = nil, previous: ReleaseIdentity? = nil, pinned: ReleaseIdentity? = nil) {
        self.active = active
        self.previous = previous
        self.pinned = pinned
    }

    /// What is true, given what the link says.
    func reconciled(with link: ActiveLink) -> Self {
        switch link {
        case .absent:
            Self(active: nil, previous: active ?? previous, pinned: pinned)
        case .release(let linked) where linked == active:
            self
        case .release(let linked):
            // The switch was made and not yet recorded: what is recorded as active is what was live before it.
            Self(active: linked, previous: active ?? (previous == linked ? nil : previous), pinned: pinned)
        case .unusable:
            self
        }
    }

    /// The state after `identity` became live.
    func activating(_ identity: ReleaseIdentity) -> Self {
        guard active != identity else { return self }
        return Self(active: identity, previous: active ?? (previous == identity ? nil : previous), pinned: pinned)
    }

    /// The state after releases are gone; the previous one takes over where it is `usable`.
    func removing(_ removed: Set<ReleaseIdentity>, isUsable: (ReleaseIdentity) throws -> Bool) rethrows -> Self {
        var next = self
        if let pinned, removed.contains(pinned) { next.pinned = nil }
        if let previous, removed.contains(previous) { next.previous = nil }
        guard let active, removed.contains(active) else { return next }
        next.active = try next.previous.flatMap { try isUsable($0) ? $0 : nil }
        if next.active != nil { next.previous = nil }
        return next
    }
}

extension ReleaseState {
    private struct Record: Codable {
        var schemaVersion: Int
        var active: String?
        var previous: String?
        var pinned: String?
    }

    /// Reads a family's record; every name is checked, as any of them could lead out of the family's folder.
    init(data: Data, family: Family) throws {
        let record = try JSONDecoder().decode(Record.self, from: data)
        func identity(_ name: String?, _ field: String) throws -> ReleaseIdentity? {
            guard let name else { return nil }
            guard let identity = ReleaseIdentity(family: family, folderName: name), !HomeLayout.isReserved(identity)
            else {
                throw DecodingError.dataCorrupted(
                    DecodingError.Context(codingPath: [], debugDescription: "\(field) is not the name of a release"))
            }
            return identity
        }
        guard record.schemaVersion == 1 else {
            throw DecodingError.dataCorrupted(
                DecodingError.Context(codingPath: [], debugDescription: "unknown schema \(record.schemaVersion)"))
        }
        self.init(
            active: try identity(record.active, "active"), previous: try identity(record.previous, "previous"),
            pinned: try identity(record.pinned, "pinned"))
    }

    /// The record as it is written to the disk.
    func data() throws -> Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
        let record = Record(
            schemaVersion: 1, active: active?.folderName, previous: previous?.folderName, pinned: pinned?.folderName)
        return try encoder.encode(record) + Data("\n".utf8)
    }
}

/// Where a family's link `active` leads.
enum ActiveLink: Sendable, Hashable {
    case absent
    /// To a release folder of the family that is there.
    case release(ReleaseIdentity)
    /// Elsewhere, or it is no link; the text is for the log.
    case unusable(String)
}
