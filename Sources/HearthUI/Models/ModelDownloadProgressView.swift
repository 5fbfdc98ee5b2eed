#if canImport(SwiftUI)
import Hearth
import SwiftUI

/// A download with its phase, its bar, its figures, and a button that cancels it.
///
/// ```swift
/// ModelDownloadProgressView(model: model, progress: 0.45) { library.cancelDownload(model.id) }
/// ```
/// ``DownloadProgressView`` fills it from a row of the library.
public struct ModelDownloadProgressView: View {
    private let model: ModelInfo
    private let progress: Double?
    private let figures: Figures?
    private let onCancel: @MainActor () -> Void
    @Environment(\.locale) private var locale

    /// What is known of a download beside its completed part.
    struct Figures {
        let phase: String
        let bytes: String
        let pace: String?
    }

    /// A view over values.
    /// - Parameters:
    ///   - progress: the completed part, 0...1; `nil` while the total is unknown.
    ///   - onCancel: cancels the download.
    public init(model: ModelInfo, progress: Double?, onCancel: @escaping @MainActor () -> Void) {
        self.init(model: model, progress: progress, figures: nil, onCancel: onCancel)
    }

    init(model: ModelInfo, progress: Double?, figures: Figures?, onCancel: @escaping @MainActor () -> Void) {
        (self.model, self.progress, self.figures, self.onCancel) = (model, progress, figures, onCancel)
    }

    public var body: some View {
        let words = Words(locale)
        let phase = figures?.phase ?? words("phase.downloading")
        let bytes = figures?.bytes ?? words.bytes(model.size)
        let percent = progress.map { words.percent($0) }
        VStack(alignment: .leading, spacing: 8) {
            HStack(alignment: .top) {
                VStack(alignment: .leading, spacing: 2) {
                    Text(verbatim: phase).font(.caption).foregroundStyle(.secondary)
                    Text(verbatim: model.displayName).font(.body)
                }
                .accessibilityElement(children: .combine)
                Spacer()
                Button(role: .cancel, action: onCancel) {
                    Image(systemName: "xmark.circle.fill").font(.title3).foregroundStyle(.secondary)
                }
                .buttonStyle(.plain)
                .accessibilityLabel(words("download.cancel"))
            }
            bar
                .accessibilityLabel(model.displayName)
                .accessibilityValue([percent, bytes, figures?.pace].compactMap(\.self).joined(separator: ", "))
                .accessibilityAddTraits(.updatesFrequently)
            SideBySide {
                if let percent { Text(verbatim: percent) }
                Spacer()
                Text(verbatim: bytes)
            }
            .figures()
            if let pace = figures?.pace { Text(verbatim: pace).figures() }
        }
        .padding()
        .background(.quaternary, in: .rect(cornerRadius: 12))
    }

    /// Without a known total the bar only moves.
    @ViewBuilder private var bar: some View {
        if let progress {
            ProgressView(value: min(1, max(0, progress)))
        } else {
            ProgressView().progressViewStyle(.linear)
        }
    }
}

extension View {
    /// Small figures below a bar, which the bar's own value speaks.
    fileprivate func figures() -> some View {
        font(.caption).monospacedDigit().foregroundStyle(.secondary).accessibilityHidden(true)
    }
}
#endif
