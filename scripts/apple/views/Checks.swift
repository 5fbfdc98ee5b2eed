import Foundation
import Hearth
import HearthBase
import HearthCatalog
import HearthDelivery
import HearthTransfer
import SwiftUI

/// Counts what was checked, and prints what was not as expected.
@MainActor enum Checks {
    private(set) static var count = 0
    private(set) static var failures = 0

    static func fail(_ text: String, _ file: String, _ line: Int) {
        failures += 1
        print("\(file):\(line): \(text)")
    }

    static func add() { count += 1 }
}

/// Checks that two values are equal.
@MainActor func expect<T: Equatable>(
    _ found: T, _ expected: T, file: String = #fileID, line: Int = #line
) {
    Checks.add()
    if found != expected { Checks.fail("found\n    \(found)\n  instead of\n    \(expected)", file, line) }
}

/// Checks that something holds.
@MainActor func expect(_ isTrue: Bool, file: String = #fileID, line: Int = #line) { expect(isTrue, true, file: file, line: line) }

/// Lets other tasks of the main actor run until something holds.
@MainActor func until(file: String = #fileID, line: Int = #line, _ condition: () async -> Bool) async {
    Checks.add()
    let clock = ContinuousClock()
    let end = clock.now.advanced(by: .seconds(20))
    while await !condition() {
        guard clock.now < end else { return Checks.fail("it did not happen", file, line) }
        await Task.yield()
    }
}

/// A model of the tests.
func model(
    _ family: String, version: String = "1.0.0", name: String? = nil, size: UInt64 = 98_400_000,
    seesImages: Bool = false, isVerified: Bool = true
) -> ModelInfo {
    guard let family = Family(family), let version = ReleaseVersion(version) else { preconditionFailure("no name") }
    return ModelInfo(
        identity: ReleaseIdentity(family: family, version: version), displayName: name, summary: "Small and quick",
        seesImages: seesImages, size: size, requiredMemory: 1_200_000_000, isVerified: isVerified)
}

/// The row of a model after some events.
func row(_ model: ModelInfo, _ events: LibraryRowEvent...) -> LibraryRow {
    var row = LibraryRow(model)
    row.take(.offered(OfferedModel(model)))
    for event in events { row.take(event) }
    return row
}

func reading(
    _ state: TransferState, _ done: UInt64 = 44_280_000, of total: UInt64? = 98_400_000, rate: Double? = 3_200_000
) -> TransferProgress {
    TransferProgress(state: state, completedBytes: done, totalBytes: total, bytesPerSecond: rate)
}

/// A delivery whose downloads a test leads.
final class Delivery: ModelDelivering {
    struct State {
        var local: [LocalModel] = []
        var offers: [OfferedModel] = []
        var pulls: [(options: DownloadOptions, model: ModelInfo)] = []
        var reports: [Family: @Sendable (TransferProgress) -> Void] = [:]
        var ends: [Family: CheckedContinuation<LocalDelivery, any Error>] = [:]
        var removed: [Family] = []
    }

    let state = Locked(State())

    init(offers: [OfferedModel] = [], local: [LocalModel] = []) {
        state.withLock { ($0.offers, $0.local) = (offers, local) }
    }

    func localModels() async throws -> [LocalModel] { state.withLock { $0.local } }
    func offeredModels(_ policy: CachePolicy) async throws -> OfferedModels {
        OfferedModels(models: state.withLock { $0.offers })
    }
    func pull(
        _ model: ModelInfo, options: DownloadOptions, report: @escaping @Sendable (TransferProgress) -> Void
    ) async throws -> LocalDelivery {
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                state.withLock {
                    $0.pulls.append((options, model))
                    $0.reports[model.id] = report
                    $0.ends[model.id] = continuation
                }
                if Task.isCancelled { end(model.id, .failure(CancellationError())) }
            }
        } onCancel: {
            end(model.id, .failure(CancellationError()))
        }
    }
    func end(_ family: Family, _ result: Result<LocalDelivery, any Error>) {
        state.withLock { $0.ends.removeValue(forKey: family) }?.resume(with: result)
    }
    func arrive(_ model: ModelInfo) {
        let local = LocalModel(model)
        state.withLock { $0.local.append(local) }
        end(model.id, .success(LocalDelivery(local: local, weights: Path("/models/\(model.id)"))))
    }
    func report(_ family: Family, _ reading: TransferProgress) { state.withLock { $0.reports[family] }?(reading) }
    func discardDownload(of model: ModelInfo) async throws {}
    func unfinishedDownloads() async throws -> [ModelInfo] { [] }
    func remove(_ model: ModelInfo) async throws {
        state.withLock {
            $0.local.removeAll { $0.model.id == model.id }
            $0.removed.append(model.id)
        }
    }
    func rollBack(_ family: Family) async throws {}
    func changes() async -> AsyncStream<LibraryChange> { AsyncStream { $0.finish() } }
}

/// A library over a delivery.
@MainActor func library(_ delivery: Delivery) async -> ModelLibrary {
    let saved = Locked<String?>(nil)
    let library = ModelLibrary(
        delivery: delivery,
        defaultModel: DefaultModelSetting {
            saved.withLock { $0 }
        } save: { text in
            saved.withLock { $0 = text }
        })
    await library.refresh()
    return library
}
