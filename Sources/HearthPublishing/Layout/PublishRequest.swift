import Foundation
import HearthBase
import HearthCatalog

/// The files to publish, and the publisher's values for them.
public struct PublishRequest: Sendable, Hashable {
    /// The models, one release each: single files, one part of a model in several files, archives, or folders such as
    /// `.mlpackage`, which are packed. Projectors, labels and tokenizers among them are recognised by name and are
    /// ``companions`` too.
    public var files: [Path]
    /// Further files that belong to every model, such as a projector; the models must then be of one family.
    public var companions: [Path] = []
    /// The roles of companions whose names do not tell it; others with an unknown name get the role `other`.
    package var roles: [Path: FileRole] = [:]
    /// The only file that devices unpack from an archive, `nil` for all.
    package var member: RelativePath?
    /// `nil` takes it from the files' names.
    public var family: Family?
    /// `nil` takes it from the files' names.
    public var version: SemanticVersion?
    /// `nil` takes it from the files' names.
    public var variant: Variant?
    /// Whether a published release may get other bytes.
    public var replaces = false
    /// Whether the release becomes the current one, which devices take unless they ask for another. `nil`: if it is
    /// newer than the current one; a pre-release becomes current only after a pre-release.
    public var isCurrent: Bool?
    /// Whether to report the changes without making them.
    public var isDryRun = false

    // Values for each release; `nil` keeps those of the published entry, or of the file.
    public var name: String?
    public var summary: String?
    public var notes: String?
    public var license: String?
    public var role: ModelRole?
    public var contextLength: Int?
    public var minimumAppVersion: SemanticVersion?
    /// The memory that a device needs, in bytes.
    public var memoryBytes: UInt64?
    /// Whether devices recommend the model before the origin's others.
    public var isRecommended: Bool?
    /// The share of devices that the release is offered to.
    public var rollout: Rollout?
    /// The question that devices ask a release before they use it; `nil` keeps that of the published entry.
    public var canary: Canary?

    /// The date of the training data, such as `2026-03-27`.
    public var trainedOn: String?
    /// The list of a classifier's classes, one to a line; its name without extension is the list's version.
    public var classes: Path?
    /// The place of a manifest in the single-model dialect, which is written besides `models.json` for the first file.
    package var singleManifest: RelativePath?
    /// The address at which devices read `models.json`, if it is known.
    package var publicAddress: URL?

    /// Creates a request for files; all other values are taken from them.
    public init(files: [URL]) { self.init(files: files.map { Path($0.path) }) }

    package init(files: [Path]) { self.files = files }
}

/// The progress of one file of a publication.
package struct PublishProgress: Sendable, Hashable {
    /// What is done with the file.
    package enum Phase: Sendable, Hashable { case reading, sending }

    package let file: Path
    package let phase: Phase
    package let completedBytes: UInt64
    package let totalBytes: UInt64

    /// One reading or sending of a file.
    package struct Step: Sendable, Hashable {
        let file: Path
        let phase: Phase
    }

    package var step: Step { Step(file: file, phase: phase) }
}
