import Foundation
import HearthBase
import HearthHTTP

/// The places of an origin's signed files, at the origin and on this device.
extension Origin {
    /// The folder of the signed metadata, beside the list.
    package var metadataURL: URL {
        folderURL.appending(path: "metadata", directoryHint: .isDirectory)
    }

    /// The folder of the signed files, beside the list.
    package var targetsURL: URL {
        folderURL.appending(path: "targets", directoryHint: .isDirectory)
    }

    private var folderURL: URL { (manifestURL.withoutSecrets ?? manifestURL).deletingLastPathComponent() }

    /// The trusted metadata in a home's folder `trust`.
    package func trustStore(in folder: Path, fileSystem: any FileSystem = LocalFileSystem()) -> TrustStore {
        TrustStore(folder: folder.joined(trustKey.hex), fileSystem: fileSystem)
    }

    /// Looks for roots of the origin that this device does not trust yet.
    package func roots(_ http: any HTTPClient) -> RootDiscovery { RootDiscovery(metadata: metadataURL, http: http) }
}
