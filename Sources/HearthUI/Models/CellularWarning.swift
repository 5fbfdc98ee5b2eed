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
    /// The refusal that the question is about.
    @State private var asked: Refusal?
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

    private struct Refusal: Equatable {
        let model: ModelInfo
        let question: Question
    }

    private var refusals: [Refusal] {
        library.rows.compactMap { row in
            guard family == nil || row.id == family, case .failed(let failure) = row.download else { return nil }
            return Question(rawValue: failure.code).map { Refusal(model: row.model, question: $0) }
        }
    }

    func body(content: Content) -> some View {
        let words = Words(locale)
        let question = asked?.question ?? .metered
        let values = asked.map { ["name": $0.model.displayName, "size": words.bytes($0.model.size)] } ?? [:]
        content
            .confirmationDialog(text(question, "title", words), isPresented: $isAsking, titleVisibility: .visible) {
                if let asked {
                    Button(text(question, "yes", words), role: question == .unverified ? .destructive : nil) {
                        download(asked, words)
                    }
                    Button(words("cancel"), role: .cancel) { library.reset(asked.model.id) }
                }
            } message: {
                Text(verbatim: text(question, "text", words, values))
            }
            .onChange(of: refusals, initial: true) { _, _ in
                guard let asked else { return askNext() }
                if !refusals.contains(asked) { isAsking = false }
            }
            .onChange(of: isAsking) { _, isAsking in
                guard !isAsking, let asked else { return }
                // A question that ends without an answer is a no.
                if refusals.contains(asked) { library.reset(asked.model.id) }
                askNext()
            }
            .problem($problem)
    }

    /// Asks about the first refusal, if there is one.
    private func askNext() {
        asked = refusals.first
        isAsking = asked != nil
    }

    private func text(
        _ question: Question, _ part: String, _ words: Words, _ values: [String: String] = [:]
    ) -> String {
        switch question {
        case .metered: words.word("ask.metered", part, values)
        case .unverified: words.word("ask.unverified", part, values)
        }
    }

    private func download(_ refusal: Refusal, _ words: Words) {
        let id = refusal.model.id
        var permission = allowed[id] ?? Permission()
        if refusal.question == .metered { permission.metered = true } else { permission.unverified = true }
        allowed[id] = permission
        do {
            try library.download(
                refusal.model,
                options: DownloadOptions(
                    metered: permission.metered ? .allow : library.metered,
                    allowsUnverified: permission.unverified || library.allowsUnverified))
        } catch {
            problem = words.sentence(of: error)
        }
    }
}
#endif
