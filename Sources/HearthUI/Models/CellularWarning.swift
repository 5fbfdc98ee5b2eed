#if canImport(SwiftUI)
import Hearth
import HearthCatalog
import HearthDelivery
import HearthTransfer
import SwiftUI

extension View {
    /// Asks before a download that the library refused: on a metered network, such as a cellular one, and of a file
    /// whose publisher gives no SHA-256. A yes repeats this download with that permission; a no clears the refusal.
    ///
    /// ```swift
    /// List { … }.cellularWarning(for: hearth.library)
    /// ```
    public func cellularWarning(for library: ModelLibrary) -> some View {
        modifier(CellularWarning(library: library, family: nil))
    }

    /// Asks about the download of one model alone.
    func cellularWarning(for library: ModelLibrary, of family: Family) -> some View {
        modifier(CellularWarning(library: library, family: family))
    }
}

/// The question before a download on a metered network; ``SwiftUICore/View/cellularWarning(for:)`` adds it to a view.
struct CellularWarning: ViewModifier {
    let library: ModelLibrary
    /// The model whose download is asked about; `nil` for all.
    let family: Family?
    @State private var problem: String?
    @State private var isAsking = false
    /// The models whose user has allowed a metered network: a second refusal adds to this permission.
    @State private var allowed: [LibraryRow.ID: Permission] = [:]
    @Environment(\.locale) private var locale

    private struct Permission {
        var metered = false
        var unverified = false
    }

    /// A question of the page, by the code of the refusal.
    private enum Question: String {
        case metered = "metered-network"
        case unverified = "digest-missing"
    }

    private var refused: (row: LibraryRow, question: Question)? {
        for row in library.rows where family == nil || row.id == family {
            guard case .failed(let failure) = row.download, let question = Question(rawValue: failure.code) else {
                continue
            }
            return (row, question)
        }
        return nil
    }

    func body(content: Content) -> some View {
        let words = Words(locale)
        let refused = refused
        let question = refused?.question ?? .metered
        let values = refused.map { ["name": $0.row.model.displayName, "size": words.bytes($0.row.model.size)] } ?? [:]
        content
            .confirmationDialog(
                text(question, "title", words), isPresented: $isAsking,
                titleVisibility: .visible
            ) {
                if let refused {
                    Button(text(question, "yes", words), role: refused.question == .unverified ? .destructive : nil) {
                        download(refused.row, refused.question, words)
                    }
                    Button(words("cancel"), role: .cancel) { library.reset(refused.row.id) }
                }
            } message: {
                Text(verbatim: text(question, "text", words, values))
            }
            .onChange(of: refused.map { [$0.row.id.name, $0.question.rawValue] }, initial: true) { _, refusal in
                isAsking = refusal != nil
            }
            // A question that ends without an answer is a no.
            .onChange(of: isAsking) { _, isAsking in
                if !isAsking, let refused = self.refused { library.reset(refused.row.id) }
            }
            .problem($problem)
    }

    private func text(
        _ question: Question, _ part: String, _ words: Words, _ values: [String: String] = [:]
    ) -> String {
        switch question {
        case .metered: words.word("ask.metered", part, values)
        case .unverified: words.word("ask.unverified", part, values)
        }
    }

    private func download(_ row: LibraryRow, _ question: Question, _ words: Words) {
        var permission = allowed[row.id] ?? Permission()
        if question == .metered { permission.metered = true } else { permission.unverified = true }
        allowed[row.id] = permission
        do {
            try library.download(
                row.model,
                options: DownloadOptions(
                    metered: permission.metered ? .allow : library.metered,
                    allowsUnverified: permission.unverified || library.allowsUnverified))
        } catch {
            problem = words.sentence(of: error)
        }
    }
}
#endif
