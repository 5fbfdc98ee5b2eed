import Foundation
import HearthBase

extension RegistryReference {
    /// The family: the one that the publisher named, else `oci--host--repository`. A name that is too long or could be that of
    /// another repository too ends in part of a hash.
    public var family: Family? {
        if let alias { return alias }
        // A port stands after `_`, which no host contains.
        let place = host.replacingOccurrences(of: ":", with: "_")
        let whole = "oci--\(place)--\(repository.replacingOccurrences(of: "/", with: "--"))"
        let isAmbiguous = place.contains("--") || repository.contains("--")
        let name =
            isAmbiguous || whole.utf8.count > 64 ? HubNames.hashed(whole, of: path, to: 64, joint: "-") : whole
        return Family(name)
    }

    /// The version: the tag, else the first 12 digits of the manifest's digest.
    package func version(_ digest: SHA256Digest) -> ReleaseVersion? {
        tag.flatMap { ReleaseVersion($0) } ?? ReleaseVersion(digest.short)
    }
}
