#if canImport(SwiftUI)
import Hearth
import HearthCatalog
import SwiftUI

/// The section of a settings screen with the models of a library: active downloads, updates, and a card for each
/// model. A selection is kept as the default model.
///
/// ```swift
/// Form { ModelSettingsSection(hearth.library) }
/// ```
public struct ModelSettingsSection: View {
    private let library: ModelLibrary
    @State private var problem: String?
    @State private var removing: LibraryRow?
    @Environment(\.locale) private var locale

    /// The section of a library.
    public init(_ library: ModelLibrary) { self.library = library }

    public var body: some View {
        let words = Words(locale)
        Section {
            ForEach(library.rows.filter(\.download.isActive)) { DownloadProgressView($0.id, in: library) }
            UpdateBanner(library)
            ForEach(library.rows) { row in
                ModelSelectionCard(row) {
                    run(words) { try await library.setDefaultModel(row.id) }
                } onDownload: {
                    run(words) { try library.download(row.id) }
                }
                .contextMenu {
                    if row.isUsable {
                        Button(words("manage.remove"), role: .destructive) { removing = row }
                    }
                    if case .failed = row.download {
                        Button(words("download.discard"), role: .destructive) { library.cancelDownload(row.id) }
                    }
                }
            }
            if library.rows.isEmpty {
                Text(verbatim: words(library.isRefreshing ? "models.reading" : "models.none"))
                    .foregroundStyle(.secondary)
            }
        } header: {
            Text(verbatim: words("models.section"))
        } footer: {
            if let failure = library.homeProblem ?? library.offerProblem {
                Text(verbatim: words.sentence(of: failure)).foregroundStyle(.red)
            }
        }
        .problem($problem)
        .cellularWarning(for: library)
        .alert(
            words("manage.remove.title", ["name": removing?.model.displayName ?? ""]),
            isPresented: $removing.isPresent
        ) {
            if let row = removing {
                Button(words("manage.remove.yes"), role: .destructive) {
                    removing = nil
                    run(words) { try await library.delete(row.id) }
                }
                Button(words("cancel"), role: .cancel) { removing = nil }
            }
        } message: {
            Text(verbatim: words("manage.remove.text", ["size": words.bytes(removing?.model.size ?? 0)]))
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

/// The settings of an app with models: ``ModelSettingsSection`` in a form, which asks the sources when it appears.
public struct SettingsView: View {
    private let library: ModelLibrary
    @Environment(\.locale) private var locale

    /// The settings of a library.
    public init(_ library: ModelLibrary) { self.library = library }

    public var body: some View {
        Form { ModelSettingsSection(library) }
            .navigationTitle(Words(locale)("nav.settings"))
            .task { await library.refresh() }
    }
}
#endif
