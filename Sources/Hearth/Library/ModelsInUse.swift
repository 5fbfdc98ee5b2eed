import HearthBase
import HearthCatalog
import HearthDelivery

extension Hearth {
    /// The families that answer without being named: the selected text model, the saved model for pictures, and the only
    /// classifier. Those that are not on this device, or that no engine can run, are none.
    package func modelsInUse() async -> [Family] {
        do {
            let models = try await manager.localModels().filter(\.canRun)
            var state = LibraryState()
            state.setDefault(try await blocking { try self.presentSettings().defaultModel })
            state.list(local: models)
            let seeing = await savedVisionModel().flatMap { saved in models.first { $0.model.id == saved } }
            let classifiers = models.filter { $0.model.role == .classifier }
            let used = [state.selected, seeing?.model.id, classifiers.count == 1 ? classifiers[0].model.id : nil]
            var seen: Set<Family> = []
            return used.compactMap(\.self).filter { seen.insert($0).inserted }
        } catch {
            Log.write(.info, "library", "the models in use are not known", [.error(error)])
            return []
        }
    }
}
