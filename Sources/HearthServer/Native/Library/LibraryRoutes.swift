import Foundation
import Hearth
import HearthBase
import HearthCatalog
import HearthTransfer

/// The routes of the library.
struct LibraryRoutes: Sendable {
    let desk: LibraryDesk

    var all: [NativeRoute] { models + releases }

    /// What can be done with a model.
    private func model<Output: Codable & Sendable>(
        _ verb: String, _ summary: String, _ work: @escaping @Sendable (LibraryDesk, String) async throws -> Output
    ) -> NativeRoute {
        .plain("POST", "/models/{id}/\(verb)", summary) { try await work(desk, $0.value("id")) }
    }

    /// Rows, downloads, transfers.
    private var models: [NativeRoute] {
        [
            .plain("GET", "/models", "The models on this device and on offer") { _ in
                let event = desk.log.lastID
                await desk.askSources()
                await desk.readTransfers()
                await desk.tell()
                return ModelsBody(rows: await desk.rows, library: await desk.libraryBody, event: event)
            },
            .json(
                "POST", "/models/refresh", "Ask the sources for their models", status: 202,
                example: #"{"now": true}"#
            ) {
                (_, order: RefreshOrder) in
                Task { @MainActor in
                    await desk.readCatalog(order.now == true ? .now : .asPublished)
                    await desk.library.refresh(order.now == true ? .now : .asPublished)
                    await desk.tell()
                }
                return EmptyBody()
            },
            .json(
                "POST", "/models/add", "List a model of the Hub or of an address, without fetching it",
                example: #"{"reference": "hf:org/repository"}"#
            ) { (_, order: AddOrder) in try await desk.add(order) },
            .plain("DELETE", "/models/listed/{id}", "Remove a model from the list of the settings") { call in
                try await desk.unlist(call.value("id"))
                return EmptyBody()
            },
            .plain(
                "GET", "/models/search", "The models of the catalog and of the Hub whose names hold words",
                query: [("q", "parts of a name, at most 200 bytes; without them, the whole catalog")]
            ) { call in try await desk.search(call.query("q") ?? "") },
            .raw(
                "POST", "/models/upload", "Install a model file that the body holds",
                query: [("name", "the name of the file, which ends with .gguf")],
                input: NativeRoute.Input(
                    example: nil, mediaTypes: [ModelUpload.mediaType],
                    describe: { _ in .object(["type": .string("string"), "format": .string("binary")]) },
                    check: { _ in }),
                mediaType: "application/json", status: 201, output: { try $0.schema(of: RowReply.self) }
            ) { call in
                let upload = try await ModelUpload.receive(call, home: desk.hearth.home)
                return try NativeRoute.json(try await desk.install(upload), status: 201)
            },
            .plain("GET", "/models/{id}", "One model with its releases, license and notes") { call in
                try await desk.details(call.value("id"))
            },
            .json(
                "POST", "/models/{id}/download", "Download a model or its update, or go on with a download",
                status: 202, example: #"{"metered": "allow", "unverified": false}"#
            ) { (call, order: DownloadOrder) in try await desk.download(call.value("id"), order) },
            .json(
                "POST", "/models/{id}/resume", "The same as download", status: 202,
                example: #"{"metered": "allow"}"#
            ) { (call, order: DownloadOrder) in try await desk.download(call.value("id"), order) },
            model("pause", "Pause a download and keep its bytes") { try await $0.pause($1) },
            model("cancel", "Cancel a download and discard its bytes") { try await $0.cancel($1) },
            model("reset", "Hide the failure of a download") { try await $0.reset($1) },
            .plain("GET", "/transfers", "The unfinished downloads of all processes") { _ in
                let event = desk.log.lastID
                await desk.readTransfers()
                return TransfersBody(transfers: await desk.transfers.map { TransferRow($0) }, event: event)
            },
            .plain("POST", "/transfers/{key}/pause", "Pause a transfer") { call in
                try await desk.steer(call.value("key")) { _ = try await $0.pause($1) }
            },
            .plain("POST", "/transfers/{key}/resume", "Resume a transfer") { call in
                try await desk.resume(call.value("key"))
            },
            .plain("POST", "/transfers/{key}/cancel", "Cancel a transfer and discard its bytes") { call in
                try await desk.steer(call.value("key")) { try await $0.cancel($1) }
            },
        ]
    }

    /// Releases and the models in use.
    private var releases: [NativeRoute] {
        [
            .json(
                "POST", "/models/{id}/select", "Save a model for text or pictures, and load it",
                example: #"{"as": "text"}"#
            ) { (call, order: SelectOrder) in try await desk.select(call.value("id"), as: order.role) },
            model("rollback", "Go back to the release before") { try await $0.rollback($1) },
            .json(
                "POST", "/models/{id}/pin", "Keep a release", example: #"{"version": "1.0.0", "variant": "q4_k_m"}"#
            ) {
                (call, order: PinOrder) in try await desk.pin(call.value("id"), order)
            },
            model("unpin", "Take updates again") { try await $0.unpin($1) },
            model("verify", "Compare the files with their digests") { try await $0.verify($1) },
            .plain("DELETE", "/models/{id}", "Unload a model and remove it from the device") { call in
                try await desk.remove(call.value("id"))
                return EmptyBody()
            },
            .plain("GET", "/activation", "The models in use") { _ in
                await desk.tell()
                return await desk.activation
            },
            .json(
                "PUT", "/activation", "Save the models for text and pictures",
                example: #"{"text": "smollm2-135m-instruct"}"#
            ) {
                (_, order: ActivationOrder) in
                for role in order.forget ?? [] { try await desk.forget(role) }
                if let vision = order.vision { _ = try await desk.select(vision, as: .vision) }
                if let text = order.text { _ = try await desk.select(text, as: .text) }
                return await desk.activation
            },
            .plain("POST", "/activation/load", "Load the model in use", status: 202) { _ in
                guard let family = await desk.library.selectedModel?.id else {
                    throw NativeFailure(409, "not-installed", "no model is chosen", remedy: "Choose one first.")
                }
                await desk.load(family)
                return await desk.activation
            },
            .plain("POST", "/activation/unload", "Unload the models that no answer uses") { _ in
                await desk.unload()
                await desk.tell()
                return await desk.activation
            },
        ]
    }
}

extension LibraryDesk {
    /// Steers a transfer by its key.
    func steer(
        _ key: String, _ body: @Sendable (TransferManager, TransferKey) async throws -> Void
    ) async throws -> EmptyBody {
        let transfers = hearth.manager.transfers
        guard let found = try await transfers.list().first(where: { $0.key.name == key }) else {
            throw NativeFailure(404, "unknown-transfer", "there is no such transfer")
        }
        try await body(transfers, found.key)
        await readTransfers()
        return EmptyBody()
    }

    /// Resumes a transfer: where it runs, or by a new download.
    func resume(_ key: String) async throws -> EmptyBody {
        let found = try await hearth.manager.transfers.list().first { $0.key.name == key }
        let done = try await steer(key) { _ = try await $0.resume($1) }
        if let family = found?.release?.family, found?.state.isHeld == false, library.row(of: family) != nil {
            _ = try await download(family.name, DownloadOrder())
        }
        return done
    }
}
