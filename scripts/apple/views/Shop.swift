// A library over a scripted delivery.
import HearthCatalog
import HearthHTTP
import HearthTransfer
import SwiftUI

@testable import Hearth

/// A library over a scripted delivery.
@MainActor struct Shop {
    let delivery = ScriptedDelivery()
    let setting = MemorySetting()
    let library: ModelLibrary

    /// 44.28 of 98.4 MB, at 3.2 MB a second: 17 seconds are left.
    nonisolated static let reading = TransferProgress(
        state: .downloading, completedBytes: 44_280_000, totalBytes: 98_400_000, bytesPerSecond: 3_200_000)
    nonisolated static let lost = HTTPError(.connectionLost, "the connection broke")

    init() { library = ModelLibrary(delivery: delivery, defaultModel: setting.setting) }

    var journal: [String] { delivery.journal.all.filter { $0 != "ask sources" } }

    /// A download that stays at its first report until the barrier opens.
    func hold(_ model: ModelInfo, at readings: TransferProgress...) -> Barrier {
        let barrier = Barrier()
        delivery.script(model, readings.map { .report($0) } + [.wait(barrier)])
        return barrier
    }
}
