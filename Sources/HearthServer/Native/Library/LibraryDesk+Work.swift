import Foundation
import Hearth
import HearthBase
import HearthCatalog
import HearthDelivery
import HearthHTTP
import HearthStore
import HearthTransfer

extension LibraryDesk {
    /// A model by its id.
    /// - Throws: ``NativeFailure`` with `model-not-found`.
    func row(_ id: String) throws -> LibraryRow {
        guard let family = Family(id), let row = library.row(of: family) else {
            throw NativeFailure(404, "model-not-found", "there is no model \(String(id.prefix(200)).quoted)")
        }
        return row
    }

    /// The families that are on this device or listed.
    var families: Set<String> { Set(library.rows.map { RowForm($0).id }) }

    /// A model for clients, after the facts were read again.
    func reply(_ family: Family) async throws -> RowReply {
        await tell()
        guard let body = body(of: family) else {
            throw NativeFailure(404, "model-not-found", "the model \(family.name.quoted) is no longer listed")
        }
        return RowReply(row: body)
    }

    // MARK: Downloads

    /// Downloads a model or its update, or goes on with an unfinished download.
    func download(_ id: String, _ order: DownloadOrder) async throws -> RowReply {
        let model = try await wanted(id)
        try await resumeTransfers(of: model.id)
        var options = DownloadOptions(metered: library.metered)
        if let metered = order.metered?.use { options.metered = metered }
        options.allowsUnverified = order.unverified ?? false
        try library.download(model, options: options) { [weak self] ending in
            if case .completed = ending { self?.arrived(model.id) }
        }
        return try await reply(model.id)
    }

    /// The model that a download of an id fetches: that of its row, else the one that the catalog or an unfinished transfer
    /// names, whose source is asked.
    private func wanted(_ id: String) async throws -> ModelInfo {
        guard let family = Family(id), library.row(of: family) == nil else { return try row(id).model }
        let transfer = try await transfers(of: family).first
        if suggestion(of: family) != nil {
            return try await hearth.manager.offer(short: family, variant: transfer?.release?.variant)
        }
        guard let plan = transfer?.plan else { return try row(id).model }
        let offer = try await hearth.manager.resolve(again: plan).0
        return ModelInfo(offer.release, reference: offer.reference)
    }

    /// Loads a model that has just come if it is the one in use, so that the first answer does not wait.
    func arrived(_ family: Family) {
        guard library.selectedModel?.id == family else { return }
        load(family)
    }

    /// Pauses a download and keeps its bytes.
    func pause(_ id: String) async throws -> RowReply {
        let family = try family(id)
        var found = try await transfers(of: family)
        // A download has a transfer once its source has answered.
        let watch = time.stopwatch()
        while found.isEmpty, library.row(of: family)?.download.isActive == true, watch.elapsed < .seconds(5) {
            try await time.sleep(for: .milliseconds(100))
            found = try await transfers(of: family)
        }
        for transfer in found { _ = try await hearth.manager.transfers.pause(transfer.key) }
        guard !found.isEmpty || library.row(of: family)?.download.isActive != true else {
            throw NativeFailure(
                409, "not-resumable", "the download has no bytes yet", remedy: "Try again in a moment.")
        }
        await readTransfers()
        return try await reply(family)
    }

    private func resumeTransfers(of family: Family) async throws {
        for transfer in try await transfers(of: family) where transfer.state.word == "paused" {
            _ = try await hearth.manager.transfers.resume(transfer.key)
        }
    }

    /// Cancels a download and discards its bytes, also those of another process.
    func cancel(_ id: String) async throws -> RowReply {
        let family = try family(id)
        // A model that is not listed has no row afterwards.
        let before = body(of: family)
        let isActive = library.row(of: family)?.download.isActive == true
        library.cancelDownload(family)
        if !isActive {
            for transfer in try await transfers(of: family) {
                try await hearth.manager.transfers.cancel(transfer.key)
            }
        }
        await readTransfers()
        await tell()
        guard let row = body(of: family) ?? before else { return try await reply(family) }
        return RowReply(row: row)
    }

    /// The family of a model that some row names.
    /// - Throws: ``NativeFailure`` with `model-not-found`.
    func family(_ id: String) throws -> Family {
        if let family = Family(id), body(of: family) != nil { return family }
        return try row(id).id
    }

    func reset(_ id: String) async throws -> RowReply {
        let row = try row(id)
        library.reset(row.id)
        return try await reply(row.id)
    }

    private func transfers(of family: Family) async throws -> [TransferSummary] {
        try await hearth.manager.transfers.list().filter { $0.release?.family == family }
    }

    // MARK: Choosing

    /// Saves a model for a role, and loads it.
    func select(_ id: String, as role: RoleWord?) async throws -> RowReply {
        let row = try row(id)
        guard row.isUsable else {
            throw NativeFailure(409, "not-installed", "\(row.model.displayName) is not on this device")
        }
        if let local = row.local, !local.canRun {
            throw NativeFailure(
                422, "engine-missing", "no engine of this device runs \(row.model.displayName)",
                remedy: "Choose another model.")
        }
        guard row.model.role != .classifier else {
            throw NativeFailure(
                422, "no-answers",
                "\(row.model.displayName) is a classifier: it reads pictures, and answers nothing",
                remedy: "Choose another model.")
        }
        if role == .vision || role == nil && row.model.role == .vision {
            guard row.model.seesImages else {
                throw NativeFailure(422, "no-vision", "\(row.model.displayName) does not understand pictures")
            }
            try await saveVision(row.id.name)
        } else {
            try await library.setDefaultModel(row.id)
        }
        load(row.id)
        return try await reply(row.id)
    }

    /// Forgets the saved model of a role.
    func forget(_ role: RoleWord) async throws {
        switch role {
        case .text: try await library.setDefaultModel(nil)
        case .vision: try await saveVision(nil)
        }
        await tell()
    }

    private func saveVision(_ name: String?) async throws {
        try await SettingsFile(home: hearth.home).change { try $0.set("visionModel", to: name) }
    }

    /// Unloads all models that no answer uses.
    func unload() async { hearth.models.pool.retire { _ in true } }

    // MARK: Releases

    /// Goes back to the release before.
    func rollback(_ id: String) async throws -> RowReply {
        let row = try row(id)
        try await hearth.manager.rollback(row.id)
        await library.refreshLocal()
        return try await reply(row.id)
    }

    func pin(_ id: String, _ order: PinOrder) async throws -> RowReply {
        let row = try row(id)
        guard var identity = row.local?.model.identity else {
            throw NativeFailure(409, "not-installed", "\(row.model.displayName) is not on this device")
        }
        if let version = order.version {
            guard let version = ReleaseVersion(version) else { throw NativeFailure.bad("version", "a version") }
            let variant = order.variant.flatMap { Variant($0) }
            identity = try await hearth.manager.installed(row.id, version: version, variant: variant).identity
        }
        try await hearth.manager.pin(identity)
        await library.refreshLocal()
        return try await reply(row.id)
    }

    func unpin(_ id: String) async throws -> RowReply {
        let row = try row(id)
        try await hearth.manager.unpin(row.id)
        await library.refreshLocal()
        return try await reply(row.id)
    }

    /// Compares the files with their digests.
    func verify(_ id: String) async throws -> VerifiedBody {
        let row = try row(id)
        guard let identity = row.local?.model.identity else {
            throw NativeFailure(409, "not-installed", "\(row.model.displayName) is not on this device")
        }
        let report = try await hearth.manager.verify(identity)
        return VerifiedBody(
            isIntact: report.isIntact,
            damaged: report.files.filter { $0.outcome != .intact }.map { "\($0.expected.name)" })
    }

    /// Unloads a model and removes it from the device.
    func remove(_ id: String) async throws {
        let row = try row(id)
        await hearth.models.unload(row.id)
        try await library.delete(row.id)
        // The sources offer a removed model anew; without their answer its row would be gone.
        await library.refreshOffers()
        await tell()
    }

    /// A model with its releases, and what its removal frees.
    func details(_ id: String) async throws -> ModelBody {
        let event = log.lastID
        let family = try family(id)
        let row = library.row(of: family)
        return ModelBody(
            row: try await reply(family).row, releases: try await releases(family),
            license: row?.model.license ?? row?.local?.model.license ?? suggestion(of: family)?.model.license,
            notes: row?.model.notes,
            freedBytes: row?.presence == .downloaded
                ? Int(clamping: try await hearth.manager.bytesFreed(byRemoving: family)) : nil, event: event)
    }

    /// The installed releases of a model: the active one, then the others by their installation, the last first.
    func releases(_ family: Family) async throws -> [ReleaseRow] {
        try await hearth.manager.installed().filter { $0.identity.family == family }
            .sorted { ($0.isActive ? 1 : 0, $0.receipt.installed) > ($1.isActive ? 1 : 0, $1.receipt.installed) }
            .map { ReleaseRow($0) }
    }
}

extension MeteredWord {
    /// The permission; `nil` asks, which is a refusal that the page turns into a question.
    var use: MeteredUse? { MeteredUse(rawValue: rawValue) }
}
