import HearthBase
import HearthCatalog

/// The downloads that an ended process left and a library continues.
struct RestoredDownloads {
    /// Whether they were looked for.
    var hasBegun = false
    var families: [Family] = []
    /// Take the downloads when they begin.
    var listeners: [@MainActor ([ModelInfo]) -> Void] = []
}

extension ModelLibrary {
    /// Continues the downloads that an ended process left unfinished, once. May touch the network.
    package func restoreDownloads() async {
        guard !restored.hasBegun else { return }
        restored.hasBegun = true
        do {
            for model in try await delivery.unfinishedDownloads() {
                do {
                    try download(model)
                    restored.families.append(model.id)
                } catch {
                    // A model that this device may not have keeps its bytes, and its row says why.
                    Log.write(.info, "library", "the download of \(model.id) is not continued", [.error(error)])
                }
            }
            for take in restored.listeners { take(activeRestored) }
        } catch is CancellationError {
            restored.hasBegun = false
        } catch {
            Log.write(.info, "library", "unfinished downloads are not continued", [.error(error)])
        }
    }

    /// Passes on the restored downloads that have not ended: those of an earlier call at once, later ones when they begin.
    func whenRestored(_ take: @escaping @MainActor ([ModelInfo]) -> Void) {
        restored.listeners.append(take)
        if !restored.families.isEmpty { take(activeRestored) }
    }

    private var activeRestored: [ModelInfo] {
        restored.families.compactMap { row(of: $0) }.filter(\.download.isActive).map { $0.wanted ?? $0.model }
    }
}
