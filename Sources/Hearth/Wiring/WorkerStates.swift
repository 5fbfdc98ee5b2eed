import Foundation
import HearthBase

/// The folders of kept states: one for each model, so that its worker reads and writes those of no other.
enum WorkerStates {
    /// The most bytes of all states together.
    private static let limit: UInt64 = 1 << 30

    /// The folder of a model's file.
    static func folder(of weights: Path, in folder: Path) -> Path {
        let digest = SHA256Digest(hashing: Array(weights.string.utf8)).description
        return Path(folder.string + "/" + digest.prefix(16))
    }

    /// Makes the folder, and removes the least recently used states of all models beyond the limit. Blocks.
    static func prepare(_ folder: Path) throws {
        try FileManager.default.createDirectory(
            atPath: folder.string, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        let keys: Set<URLResourceKey> = [.contentModificationDateKey, .fileSizeKey, .isRegularFileKey]
        let all = FileManager.default.enumerator(
            at: folder.parent.url, includingPropertiesForKeys: Array(keys), options: .skipsHiddenFiles)
        var states: [(url: URL, used: Date, size: UInt64)] = []
        for case let url as URL in all ?? .init() where url.pathExtension == "state" {
            guard let values = try? url.resourceValues(forKeys: keys), values.isRegularFile == true else { continue }
            states.append((url, values.contentModificationDate ?? .distantPast, UInt64(values.fileSize ?? 0)))
        }
        var kept: UInt64 = 0
        for state in states.sorted(by: { $0.used > $1.used }) {
            kept = kept.addingSaturating(state.size)
            // Without it the conversation is computed anew.
            if kept > limit { try? FileManager.default.removeItem(at: state.url) }
        }
    }
}
