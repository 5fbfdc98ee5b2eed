import Foundation
import HearthBase
import HearthCatalog
import HearthHTTP

/// Writes the manifest of one model, for apps that read the single-model dialect.
struct SingleManifestWriter {
    /// The bytes to write.
    let data: Data
    /// The described release.
    let identity: ReleaseIdentity
    /// The version of the release's list of classes; `nil` without one.
    let listVersion: String?

    /// Describes the current release of a family, in the given variant.
    /// - Parameter base: the address of `models.json` for devices; `nil` writes an address relative to the manifest.
    init(_ manifest: OriginManifest, _ identity: ReleaseIdentity, base: URL?) {
        let version = manifest.catalog.preferredVersion(of: identity.family) ?? identity.version
        let current = ReleaseIdentity(family: identity.family, version: version, variant: identity.variant)
        self.identity = manifest.entry(of: current) == nil ? identity : current
        let entry = manifest.entry(of: self.identity) ?? [:]
        var fields: JSONMembers = [:]
        fields["version"] = entry["version"]
        fields["sha256"] = entry["sha256"]
        fields["training_date"] = entry["trainedOn"]
        let classes = entry["classes"]?.members
        fields["num_classes"] = classes?["count"]
        fields["class_list_version"] = classes?["listVersion"]
        listVersion = classes?["listVersion"]?.string
        if case .string(let address)? = entry["downloadUrl"] {
            fields["url"] = .string(URL(address: address, relativeTo: base)?.absoluteString ?? address)
        }
        if case .number(let digits)? = entry["sizeBytes"], let size = UInt64(digits) {
            // Rounded up, since devices refuse files that are much larger than announced.
            let tenths = (size * 10).addingSaturating(1_048_575) / 1_048_576
            fields["size_mb"] = .number("\(tenths / 10).\(tenths % 10)")
        }
        data = JSONValue.object(fields).data
    }
}
