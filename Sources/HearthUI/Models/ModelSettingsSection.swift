#if canImport(SwiftUI)
import Hearth
import HearthCatalog
import SwiftUI

/// The section of a settings screen with the models of a library: active downloads, updates, and a card for each
/// model, whose menu removes the model or brings the version before back. A selection is kept as the default model.
///
/// ```swift
/// Form { ModelSettingsSection(hearth.library) }
/// ```
public struct ModelSettingsSection: View {
    private let library: ModelLibrary
    @Environment(\.locale) private var locale

    /// The section of a library.
    public init(_ library: ModelLibrary) { self.library = library }

    public var body: some View {
        let words = Words(locale)
        Section {
            ForEach(library.rows.filter(\.download.isActive)) { DownloadProgressView($0.id, in: library) }
            UpdateBanner(library)
            ForEach(library.rows) { LibraryCard($0, in: library) }
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
