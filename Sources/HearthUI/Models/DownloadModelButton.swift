#if canImport(SwiftUI)
import Hearth
import HearthCatalog
import SwiftUI

/// The button "Download Model" of an app whose feature needs a model that is not on this device, then the progress of
/// that download. Shows nothing once the model is here.
///
/// ```swift
/// DownloadModelButton(model, in: hearth.library)
/// Button("Score") { score() }.disabled(!hearth.library.hasModel(for: .text))
/// ```
public struct DownloadModelButton: View {
    private let model: ModelInfo
    private let library: ModelLibrary
    @State private var problem: String?
    @Environment(\.locale) private var locale

    /// The button for a model, which need not be listed.
    public init(_ model: ModelInfo, in library: ModelLibrary) { (self.model, self.library) = (model, library) }

    public var body: some View {
        let words = Words(locale)
        let row = library.row(of: model.id)
        if row?.download.isActive == true {
            DownloadProgressView(model.id, in: library)
        } else if row?.isUsable != true {
            Button {
                do {
                    try library.download(model)
                } catch {
                    problem = words.sentence(of: error)
                }
            } label: {
                Label(words("download.model"), systemImage: "arrow.down.circle")
            }
            .buttonStyle(.borderedProminent)
            .accessibilityHint(
                Text(verbatim: [model.displayName, words.size(model)].compactMap(\.self).joined(separator: ", "))
            )
            .problem($problem)
            .cellularWarning(for: library, of: model.id)
            if case .failed(let failure)? = row?.download {
                Text(verbatim: words.sentence(of: failure)).font(.caption).foregroundStyle(.red)
            }
        }
    }
}
#endif
