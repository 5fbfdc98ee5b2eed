import Hearth
import HearthBase
import HearthCatalog
import HearthDelivery
import HearthStore
import HearthTransfer
import Testing

/// Rows as a library has them, for tables.
enum Rows {
    static let lost = FailureBody(code: "network-error", message: "Network error: the connection broke")
    static let metered = FailureBody(code: "metered-network", message: "Wi-Fi required: this network is metered")

    static func family(_ name: String) -> Family {
        // Literals of the tests.
        guard let family = Family(name) else { preconditionFailure("no family") }
        return family
    }

    static func model(
        _ name: String, version: String = "1.0.0", displayName: String? = nil, summary: String? = nil,
        size: UInt64 = 98_400_000, memory: UInt64 = 1_200_000_000
    ) -> ModelInfo {
        guard let version = ReleaseVersion(version) else { preconditionFailure("no version") }
        return ModelInfo(
            identity: ReleaseIdentity(family: family(name), version: version, variant: Variant("q4_1")),
            displayName: displayName, summary: summary, size: size, requiredMemory: memory)
    }

    /// A row after some events.
    static func row(_ model: ModelInfo, _ events: LibraryRowEvent...) -> LibraryRow {
        var row = LibraryRow(model)
        for event in events { row.take(event) }
        return row
    }

    static func offered(_ name: String, _ events: LibraryRowEvent...) -> LibraryRow {
        var row = row(model(name), .offered(OfferedModel(model(name))))
        for event in events { row.take(event) }
        return row
    }

    static func here(_ name: String) -> LibraryRow { row(model(name), .local(LocalModel(model(name)))) }

    /// A model that was updated from 1.0.0 to 1.1.0.
    static func updated(_ name: String) -> LibraryRow {
        var local = LocalModel(model(name, version: "1.1.0"))
        local.previous = model(name).identity
        return row(local.model, .local(local))
    }

    static func updatable(_ name: String) -> LibraryRow {
        row(
            model(name), .local(LocalModel(model(name))),
            .offered(OfferedModel(model(name, version: "1.1.0"), isUpdate: true)))
    }

    static func reading(_ state: TransferState = .downloading, _ done: UInt64 = 42) -> TransferProgress {
        TransferProgress(
            state: state, completedBytes: done * 1_000_000, totalBytes: 100_000_000, bytesPerSecond: 2e6, connections: 4
        )
    }

    /// The rows of a library in which these are.
    static func library(_ local: [LocalModel], _ offers: [OfferedModel], default name: String? = nil) -> [LibraryRow] {
        var state = LibraryState()
        state.setDefault(name)
        state.list(local: local)
        state.list(offered: offers)
        return state.rows
    }
}

/// Readings in short.
extension TransferProgress {
    static func progress(_ part: Double) -> Self {
        TransferProgress(state: .downloading, completedBytes: UInt64(part * 1000), totalBytes: 1000)
    }

    static func hold(_ hold: DownloadHold) -> Self {
        TransferProgress(state: .waiting(hold), completedBytes: 500, totalBytes: 1000)
    }

    /// A connection that nothing is known of.
    static let release = TransferProgress(state: .connecting, completedBytes: 500, totalBytes: nil)
    static let received = TransferProgress(state: .verifying, completedBytes: 1000, totalBytes: 1000)
    static let mismatch = TransferProgress(
        state: .retrying(attempt: 2, limit: 3), completedBytes: 1000, totalBytes: 1000)
}
