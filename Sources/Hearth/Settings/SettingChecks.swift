import Foundation
import HearthBase
import HearthCatalog
import HearthHTTP
import HearthRouting

extension Hearth {
    /// Checks new values of settings against this device, as far as their forms cannot: the file of a key has a key that only
    /// its owner reads, the files of an origin and its root exist, and a model is known. Blocks.
    /// - Parameters:
    ///   - keys: the settings that were changed.
    ///   - models: the families that are on this device or listed.
    /// - Throws: ``ConfigurationError`` with `invalid-configuration`; `LLMError` with `cloud-key-unusable`.
    package func check(_ keys: some Sequence<String>, of settings: Configuration, models: Set<String>) throws {
        for key in keys.sorted() {
            guard let value = try settings.value(of: key), settings.setText(try Setting.named(key)) != nil else {
                continue
            }
            if key.hasSuffix(".keyFile") {
                _ = try CloudKey.read(Path(value))
            } else if key == "defaultModel" || key == "visionModel" {
                let family = String(value.prefix { $0 != "@" && $0 != ":" })
                guard models.contains(family) else {
                    throw ConfigurationError.invalid(
                        key, "a model that is on this device or listed", found: value)
                }
            } else if key.hasPrefix("origins."), let url = URL(address: value), url.isFileURL {
                try requireFile(url.path, key)
            } else if key.hasPrefix("trust."), SHA256Digest(hex: value) == nil {
                try requireFile(value, key)
            }
        }
    }

    private func requireFile(_ path: String, _ key: String) throws {
        guard try LocalFileSystem().status(at: Path(path))?.kind == .file else {
            throw ConfigurationError.invalid(
                key, "an https address, or the whole path of a file that exists", found: path)
        }
    }
}
