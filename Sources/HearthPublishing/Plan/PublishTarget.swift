import Foundation
import HearthBase

/// A place that holds an origin's files: a folder, or a part of a bucket.
///
/// Every method may be called again after a failure. A file at its place is whole: a target never shows a part of it.
package protocol PublishTarget: Sendable {
    /// The name for messages, as the publisher typed it.
    var name: String { get }
    /// The address of `models.json`, from which the catalog's relative addresses start.
    var manifestURL: URL { get }
    /// A place as people read it.
    func shown(_ place: RelativePath) -> String
    /// Begins a publication; other publishers are refused until the result is released, if the target can do that.
    /// - Throws: ``PublishingError`` with `publisher-busy`.
    func begin() async throws -> any Sendable
    /// The bytes at a place, at most `limit`; `nil` if there are none.
    func contents(of place: RelativePath, limit: Int) async throws -> StoredBytes?
    /// Whether a place holds a file of this size and, unless `nil`, with this digest.
    func holds(_ place: RelativePath, size: UInt64, digest: SHA256Digest?) async throws -> Bool
    /// Makes one upload.
    /// - Parameter progress: called with the number of bytes that are safe.
    /// - Throws: ``PublishingError`` with `origin-changed` if the step's condition does not hold.
    func perform(_ step: PublishStep, progress: @escaping @Sendable (UInt64) -> Void) async throws
    /// Ends a publication whose catalog was written: removes replaced files, if that harms no device.
    /// - Parameter sparing: files that stay, because they are the publisher's own.
    func withdraw(_ places: Set<RelativePath>, sparing: Set<FileIdentity>) async
    /// All files of the origin.
    func list() async throws -> [StoredFile]
    /// Removes a file; a missing one is no failure.
    func remove(_ place: RelativePath) async throws
    /// Gives up uploads that were begun before a date and never finished. Returns their number.
    func abandonUploads(before date: Date) async throws -> Int
    /// Whether the target refuses a catalog that another publisher changed; `nil` if it was not found out.
    var refusesOverwriting: Bool? { get async }
}

/// Bytes at a place, and their entity tag.
package struct StoredBytes: Sendable, Hashable {
    package let data: Data
    package let tag: String?
}

/// A file in a listing.
package struct StoredFile: Sendable, Hashable {
    package let place: RelativePath
    package let size: UInt64
    package let modified: Date
}

/// Adds the metadata of a signed origin to a plan that writes a catalog.
package protocol PublishSigning: Sendable {
    /// The metadata that vouches for the catalog and the chunk indexes of a plan: steps of the kinds `metadata` and
    /// `timestamp`. The plan has the catalog's copy under `targets/` already.
    /// Without a catalog in the plan, those of the present one, if it is not signed yet.
    func steps(for plan: PublishPlan, target: any PublishTarget, now: Date) async throws -> [PublishStep]
    /// Refuses a target that cannot be signed, before anything is uploaded.
    func check(_ target: any PublishTarget) async throws
}
