#if canImport(SwiftUI)
import Hearth
import SwiftUI

/// A banner for models with a newer version: its number, its size, and a button that fetches it. Shows nothing
/// without an update.
///
/// ```swift
/// UpdateBanner(hearth.library)
/// ```
public struct UpdateBanner: View {
    private let library: ModelLibrary

    /// The updates of a library's models.
    public init(_ library: ModelLibrary) { self.library = library }

    private var rows: [LibraryRow] {
        library.rows.filter { if case .updateAvailable = $0.state { !$0.isBeingDeleted } else { false } }
    }

    public var body: some View { ForEach(rows) { UpdateRow(row: $0, library: library) } }
}

/// The update of one model.
private struct UpdateRow: View {
    let row: LibraryRow
    let library: ModelLibrary
    @State private var problem: String?
    @Environment(\.locale) private var locale

    var body: some View {
        let words = Words(locale)
        SideBySide {
            Label(row.model.displayName, systemImage: "arrow.triangle.2.circlepath")
            Spacer()
            Button(words.update(row) ?? "") {
                do {
                    try library.download(row.id)
                } catch {
                    problem = words.sentence(of: error)
                }
            }
            .buttonStyle(.bordered)
            .accessibilityHint(row.model.displayName)
        }
        .problem($problem)
    }
}
#endif
