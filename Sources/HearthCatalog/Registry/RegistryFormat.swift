/// Names of the form in which registries keep models: OCI's, ModelPack's and Hearth's own.
package enum RegistryFormat {
    /// A manifest of files (OCI image specification 1.1).
    package static let manifest = "application/vnd.oci.image.manifest.v1+json"
    /// A list of manifests.
    package static let list = "application/vnd.oci.image.index.v1+json"
    /// The configuration `{}` of a manifest that needs none.
    package static let empty = "application/vnd.oci.empty.v1+json"
    /// A manifest of ModelPack.
    package static let modelPack = "application/vnd.cncf.model.manifest.v1+json"
    /// A configuration of ModelPack.
    package static let modelPackConfig = "application/vnd.cncf.model.config.v1+json"
    /// A manifest with the chunk indexes of a model's files, and each of its layers.
    package static let chunks = "application/vnd.hearth.chunk-index.v1"
    /// The annotation of a layer with the path of its file.
    package static let filePath = "org.cncf.model.filepath"
    /// The annotation of a manifest of Hearth with the name of its release, `family@version[:variant]`.
    package static let release = "hearth.release"

    /// The tag of the list of manifests that refer to one, for registries without such lists (distribution specification,
    /// "Referrers Tag Schema").
    package static func referrersTag(_ digest: some StringProtocol) -> String { "sha256-\(digest)" }
}
