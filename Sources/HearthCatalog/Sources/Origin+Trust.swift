import Foundation
import HearthBase
import HearthHTTP

/// The places of an origin's signed files, at the origin and on this device.
extension Origin {
    /// The folder of the signed metadata, beside the list.
    package var metadataURL: URL {
        (manifestURL.withoutSecrets ?? manifestURL).beside("metadata/")
    }

    /// The folder of the signed files, beside the list.
    package var targetsURL: URL {
        (manifestURL.withoutSecrets ?? manifestURL).beside("targets/")
    }

    /// The trusted metadata in a home's folder `trust`.
    package func trustStore(in folder: Path, fileSystem: any FileSystem = LocalFileSystem()) -> TrustStore {
        TrustStore(folder: folder.joined(trustKey.hex), fileSystem: fileSystem)
    }

    /// Looks for roots of the origin that this device does not trust yet.
    package func roots(_ http: any HTTPClient) -> RootDiscovery { RootDiscovery(metadata: metadataURL, http: http) }
}
