import Foundation
import HearthBase

/// The Hub's own Python client in the cache of the set-up, for comparison with this package's client.
package enum HubPythonClient {
    /// The pinned version, as in `scripts/env.sh`.
    package static let version = "2.4.0"

    /// The folder for Python's path. A test that needs it fails without it: `make setup` fetches it.
    package static var path: Path { Path(TestModel.cache.string + "/bench/hub-client-" + version) }

    /// Downloads a snapshot and prints its path, or the name of the error's type.
    ///
    /// Arguments: the repository, the revision or `-`, and the patterns of the requested files.
    package static let script = """
        import sys
        from huggingface_hub import snapshot_download
        repository, revision, *patterns = sys.argv[1:]
        try:
            print(snapshot_download(repository, revision=None if revision == "-" else revision,
                                    allow_patterns=patterns or None))
        except Exception as error:
            print(type(error).__name__)
            sys.exit(1)
        """

    /// The environment for the client, with its own home folder.
    package static func environment(endpoint: String, home: Path, token: String? = nil) -> [String: String] {
        var environment = [
            "PYTHONPATH": path.string, "HOME": home.string, "HF_HOME": home.string + "/hf", "HF_ENDPOINT": endpoint,
            "HF_HUB_DISABLE_PROGRESS_BARS": "1", "HF_HUB_DISABLE_TELEMETRY": "1", "HF_HUB_DISABLE_XET": "1",
            "HF_HUB_DISABLE_UPDATE_CHECK": "1", "PYTHONDONTWRITEBYTECODE": "1", "PATH": "/usr/bin:/bin:/usr/local/bin",
        ]
        environment["HF_TOKEN"] = token
        return environment
    }
}
