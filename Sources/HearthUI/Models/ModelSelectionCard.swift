#if canImport(SwiftUI)
import Hearth
import SwiftUI

/// The card of a model in a list: name, badges, description, size, memory and state. A tap downloads the model, or
/// selects it if it is on this device.
///
/// ```swift
/// ModelSelectionCard(
///     model: model, state: manager.state(for: model), isSelected: selected == model.id,
///     onSelect: { selected = model.id }, onDownload: { download(model) })
/// ```
public struct ModelSelectionCard: View {
    private let model: ModelInfo
    private let state: ModelDownloadState
    private let isSelected: Bool
    private let badges: [ModelBadge]
    private let row: LibraryRow?
    private let onSelect: @MainActor () -> Void
    private let onDownload: @MainActor () -> Void
    @Environment(\.isEnabled) private var isEnabled
    @Environment(\.locale) private var locale

    /// A card over values.
    public init(
        model: ModelInfo, state: ModelDownloadState, isSelected: Bool, onSelect: @escaping @MainActor () -> Void,
        onDownload: @escaping @MainActor () -> Void
    ) {
        (self.model, self.state, self.isSelected) = (model, state, isSelected)
        (badges, row) = (model.seesImages ? [.vision] : [], nil)
        (self.onSelect, self.onDownload) = (onSelect, onDownload)
    }

    /// The card of a library's row.
    public init(
        _ row: LibraryRow, onSelect: @escaping @MainActor () -> Void, onDownload: @escaping @MainActor () -> Void
    ) {
        (model, state, isSelected, badges) = (row.model, row.state, row.isSelected, row.badges)
        self.row = row
        (self.onSelect, self.onDownload) = (onSelect, onDownload)
    }

    /// The action of a tap; `nil` if a tap does nothing. A model without a row may be one that no engine runs.
    private var action: ModelAction? {
        if let row { return row.primaryAction }
        return state.isDownloaded || model.isCompatibleWithDevice() ? state.primaryAction : nil
    }

    public var body: some View {
        let words = Words(locale)
        let stateText = row.map { words.state($0) } ?? words.state(state)
        Button(action: tap) {
            HStack(alignment: .top, spacing: 12) {
                Image(systemName: symbol).font(.title3).foregroundStyle(tint).accessibilityHidden(true)
                facts(words, stateText)
                Spacer(minLength: 0)
                status
            }
            .padding()
            .background(.quaternary, in: .rect(cornerRadius: 12))
            .overlay { RoundedRectangle(cornerRadius: 12).stroke(isSelected ? .purple : .clear, lineWidth: 2) }
            .contentShape(RoundedRectangle(cornerRadius: 12))
        }
        .buttonStyle(.plain)
        .disabled(!isEnabled || action == nil)
        .opacity(isIncompatible ? 0.5 : 1)
        .accessibilityLabel(words.action(model, action == nil ? .waiting(.paused) : state, isSelected: isSelected))
        .accessibilityValue(
            ([stateText] + words.badges(badges, model) + [words.size(model), words.memory(model)].compactMap(\.self))
                .joined(separator: ", ")
        )
        .accessibilityAddTraits(isSelected ? .isSelected : [])
    }

    private func facts(_ words: Words, _ stateText: String) -> some View {
        VStack(alignment: .leading, spacing: 4) {
            SideBySide {
                Text(verbatim: model.displayName).font(.body)
                ForEach(words.badges(badges, model), id: \.self) { badge in
                    Text(verbatim: badge)
                        .font(.caption2.bold())
                        .padding(.horizontal, 6)
                        .background(.tint.opacity(0.15), in: .capsule)
                }
            }
            if let summary = model.summary {
                Text(verbatim: summary).font(.caption).foregroundStyle(.secondary)
            }
            SideBySide {
                if let size = words.size(model) { Label(size, systemImage: "arrow.down.circle") }
                if let memory = words.memory(model) { Label(memory, systemImage: "memorychip") }
            }
            .font(.caption2)
            .foregroundStyle(.secondary)
            Text(verbatim: stateText).font(.caption).foregroundStyle(isFailed ? .red : .secondary)
        }
        .multilineTextAlignment(.leading)
    }

    private func tap() {
        switch action {
        case .download: onDownload()
        case .select: onSelect()
        case nil: break
        }
    }

    // MARK: Symbols

    private var isFailed: Bool { if case .failed = state { true } else { false } }

    private var isIncompatible: Bool {
        if case .incompatible = state { return true }
        return row == nil && action == nil && state == .notDownloaded
    }

    private var symbol: String {
        switch state {
        case .notDownloaded: "arrow.down.circle"
        case .waiting, .downloading: "arrow.down.circle.dotted"
        case .downloaded, .updateAvailable: "checkmark.circle.fill"
        case .failed: "exclamationmark.circle"
        case .incompatible: "nosign"
        }
    }

    private var tint: Color {
        switch state {
        case .notDownloaded, .incompatible: .secondary
        case .waiting, .downloading: .purple
        case .downloaded, .updateAvailable: .green
        case .failed: .red
        }
    }

    @ViewBuilder private var status: some View {
        switch state {
        case .downloading: ProgressView().progressViewStyle(.circular).accessibilityHidden(true)
        case .downloaded, .updateAvailable:
            Image(systemName: isSelected ? "checkmark.circle.fill" : "circle")
                .foregroundStyle(isSelected ? .purple : .secondary)
        case .notDownloaded, .waiting, .failed, .incompatible: EmptyView()
        }
    }
}
#endif
