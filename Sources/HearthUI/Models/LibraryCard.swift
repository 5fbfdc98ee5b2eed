#if canImport(SwiftUI)
import Hearth
import HearthCatalog
import SwiftUI

/// The card of a library's row with its menu and its questions. A section hands its modifiers to each of its rows, so
/// each row asks about its own model.
struct LibraryCard: View {
    private let row: LibraryRow
    private let library: ModelLibrary
    @State private var problem: String?
    @State private var isRemoving = false
    @State private var isRollingBack = false
    @Environment(\.locale) private var locale

    init(_ row: LibraryRow, in library: ModelLibrary) { (self.row, self.library) = (row, library) }

    var body: some View {
        let words = Words(locale)
        let name = row.model.displayName
        ModelSelectionCard(row) {
            run(words) { try await library.setDefaultModel(row.id) }
        } onDownload: {
            run(words) { try library.download(row.id) }
        }
        .contextMenu { menu(words) }
        .problem($problem)
        .cellularWarning(for: library, of: row.id)
        .alert(words("manage.remove.title", ["name": name]), isPresented: $isRemoving) {
            Button(words("manage.remove.yes"), role: .destructive) {
                run(words) { try await library.delete(row.id) }
            }
            Button(words("cancel"), role: .cancel) {}
        } message: {
            Text(verbatim: words("manage.remove.text", ["size": words.bytes(row.local?.model.size ?? 0)]))
        }
        .alert(words("manage.rollback.title", ["name": name]), isPresented: $isRollingBack) {
            Button(words("manage.rollback.yes")) { run(words) { try await library.rollBack(row.id) } }
            Button(words("cancel"), role: .cancel) {}
        } message: {
            Text(
                verbatim: words(
                    "manage.rollback.text",
                    ["from": words.release(row.local?.model.identity), "to": row.rollback?.version.name ?? ""]))
        }
    }

    @ViewBuilder private func menu(_ words: Words) -> some View {
        if row.isUsable {
            if let version = row.rollback?.version.name {
                Button(words("manage.rollback", ["version": version])) { isRollingBack = true }
            }
            Button(words("manage.remove"), role: .destructive) { isRemoving = true }
        }
        if case .failed = row.download {
            Button(words("download.discard"), role: .destructive) { library.cancelDownload(row.id) }
        }
    }

    private func run(_ words: Words, _ action: @escaping @MainActor () async throws -> Void) {
        Task {
            do {
                try await action()
            } catch {
                problem = words.sentence(of: error)
            }
        }
    }
}
#endif
