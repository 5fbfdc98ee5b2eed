import Foundation
import HearthBase
import HearthRouting

/// The settings `cloud.*`: which cloud model answers, if any.
package struct CloudConfiguration: Sendable, Hashable {
    /// `nil` for no cloud.
    package var kind: CloudKind?
    /// `nil` for the vendor's.
    package var url: URL?
    /// `nil` for one of the vendor's.
    package var model: String?
    package var keyFile: Path?
    /// The longest wait for the beginning of an answer; `nil` for that of the kind.
    package var firstByteSeconds: Int?
    package var shares = CloudShares.all
}
