import Foundation
import Hearth
import HearthBase
import HearthCatalog
import HearthDelivery

extension LibraryDesk {
    /// Lists a model of the Hub or of an address in the settings, without fetching it.
    func add(_ order: AddOrder) async throws -> RowsReply {
        let text: String
        if let file = try Self.file(order) {
            text = try await file.list(home: hearth.home)
        } else {
            text = try Self.reference(order)
        }
        let offered = try await ListedDelivery.offer(text, hearth.manager)
        try await SettingsFile(home: hearth.home).change { configuration in
            var listed = configuration.library.models
            if !listed.contains(text) { listed.append(text) }
            try configuration.set("library.models", to: listed.joined(separator: ","))
        }
        await library.refreshOffers()
        await tell()
        guard let body = body(of: offered.model.id) else {
            throw NativeFailure(422, "not-listed", "the model cannot be listed", remedy: "Refresh the list.")
        }
        return RowsReply(rows: [body])
    }

    /// Removes a model from the list of the settings; what is installed stays.
    func unlist(_ id: String) async throws {
        guard let family = Family(id), let text = library.listed[family] else {
            throw NativeFailure(404, "model-not-found", "the settings do not list \(String(id.prefix(200)).quoted)")
        }
        try await SettingsFile(home: hearth.home).change { configuration in
            let rest = configuration.library.models.filter { $0 != text }
            try configuration.set("library.models", to: rest.isEmpty ? nil : rest.joined(separator: ","))
        }
        await library.refreshOffers()
        await tell()
    }

    /// The model file of an order; `nil` if its reference is no address of one.
    /// - Throws: ``NativeFailure`` for a digest or an address that cannot be used.
    private nonisolated static func file(_ order: AddOrder) throws -> ListedFile? {
        let text = order.reference.trimmingCharacters(in: .whitespacesAndNewlines)
        guard text.utf8.count <= 2048, let url = URL(address: text), ListedFile.isAddress(url) else { return nil }
        let digest = try order.sha256.map { text in
            guard let digest = SHA256Digest(hex: text.trimmingCharacters(in: .whitespaces).lowercased()) else {
                throw NativeFailure.bad("sha256", "64 hexadecimal digits")
            }
            return digest
        }
        let name = order.name?.trimmingCharacters(in: .whitespacesAndNewlines)
        guard let file = ListedFile(url, digest: digest, name: name) else {
            throw NativeFailure.bad("reference", "an https address without a user")
        }
        return file
    }

    /// The reference of an order. A client names models, never files of this machine.
    nonisolated static func reference(_ order: AddOrder) throws -> String {
        let text = order.reference.trimmingCharacters(in: .whitespacesAndNewlines)
        guard text.utf8.count <= 2048, !text.contains(",") else {
            throw NativeFailure.bad("reference", "a repository of the Hub or an https address")
        }
        switch try ModelReference(parsing: text) {
        case .hub(let reference): return reference.description
        case .registry(let reference): return reference.description
        case .family: return text
        case .manifest(let url, _, _, _) where !url.isFileURL: return text
        case .manifest, .file:
            throw NativeFailure(
                422, "bad-reference", "a file of this machine cannot be added here",
                remedy: "Pull it with the command line.", field: "reference")
        }
    }
}
