import HearthBase
import HearthCatalog

/// The result of preparing a release.
package struct ReleasePreparation: Sendable, Hashable {
    package var artifact: Artifact?
    package var outcome: Activation.Preparation
    /// Whether the artifact was made just now.
    package var isNew = false
}
