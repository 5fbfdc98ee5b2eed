// "OTA Model Delivery" (seed 002): the start, the hot swap and the button, call by call. Compiled by make apple.
//
// Lines that differ:
// - `ModelManager` is a class of actors, and takes its origins; `manifestURL` is `Origin.manifestURL`.
// - `activate` and `loadModel(at:)` throw.
import Foundation
import Hearth
import HearthClassification
import HearthDelivery
import SwiftUI

@MainActor @Observable final class Services {
    private(set) var isModelReady = false
    @ObservationIgnored let proxy = ClassifierProxy()
    @ObservationIgnored let decoder: RoutingDecoder

    init(_ manager: ModelManager) {
        decoder = RoutingDecoder(proxy: proxy)
        Task {
            await manager.onReady { [weak self] _ in self?.isModelReady = true }
            Task { await manager.loadStoredModel() }   // 1. restore from disk (ms)
            Task { await manager.checkForUpdates() }   // 2. fetch manifest (background)
        }
    }

    /// The development workaround of the plan.
    func tryModel(at url: URL, with manager: ModelManager) async throws {
        if FileManager.default.fileExists(atPath: url.path) { try await manager.loadModel(at: url) }
        try await manager.activate(modelURL: url, version: "1.0.0")
    }

    func swap(to newClassifier: any ImageClassifier) async { await proxy.update(newClassifier) }
}

struct DecodeButton: View {
    let services: Services
    let decodeAll: @MainActor () -> Void

    var body: some View { Button("Decode All", action: decodeAll).disabled(!services.isModelReady) }
}

/// Green, yellow, and what the cloud is asked about.
func color(of character: DecodedCharacter) -> Color {
    switch character.verdict {
    case .accepted, .verified: .green
    case .uncertain: .yellow
    default: .red
    }
}
