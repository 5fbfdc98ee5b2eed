import Foundation
import HearthBase
import HearthStore

/// The folders of kept states: one for each model, so that its worker reads and writes those of no other.
enum KeptStates {
    /// The most bytes of the states of all conversations together.
    static let conversationLimit: UInt64 = 1 << 30
    /// The most bytes of the states of all instructions together, when a model is loaded. Its own may be as many again.
    static let instructionLimit: UInt64 = 128 << 20

    /// The folder of a model's file.
    static func folder(of weights: Path, in folder: Path) -> Path {
        folder.joined(HomeLayout.stateFolderName(of: weights))
    }

    /// The folder for the states of a model's instructions, made if needed; `nil` if none are kept: without a home
    /// folder, a file that is only run leaves nothing on the device. Without a folder for them the instructions are
    /// computed anew, so an error is logged only. Blocks.
    static func instructionFolder(of request: EngineRegistry.Request) -> Path? {
        guard let states = request.instructionStates, FileManager.default.fileExists(atPath: states.parent.string)
        else { return nil }
        let folder = folder(of: request.weights, in: states)
        do {
            try prepare(folder, limit: instructionLimit)
            return folder
        } catch {
            Log.write(.info, "states", "the state of the instructions is not kept", [.error(error)])
            return nil
        }
    }

    /// Makes the folder, and removes the least recently used states of all models beyond the limit. Blocks.
    static func prepare(_ folder: Path, limit: UInt64) throws {
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
        // Of states with the same date the name decides, which begins with the place in a conversation.
        let sorted = states.sorted { ($1.used, $0.url.lastPathComponent) < ($0.used, $1.url.lastPathComponent) }
        for state in sorted {
            kept = kept.addingSaturating(state.size)
            // Without it the conversation is computed anew.
            if kept > limit { try? FileManager.default.removeItem(at: state.url) }
        }
    }
}
