import Foundation
import HearthClassification
import SwiftUI
import UniformTypeIdentifiers

/// Reads the characters of a picture: green where the classifier is sure, yellow where it is fairly sure, red otherwise.
/// The cloud reads what this device is not sure about, if the user agrees.
struct ClassifyView: View {
    @Environment(ServiceContainer.self) private var services
    @State private var isChoosing = false
    @State private var picture: [UInt8]?
    @State private var characters: [DecodedCharacter] = []
    @State private var reading: Task<Void, Never>?
    @State private var question: Question?
    @State private var isAsking = false
    @State private var problem: String?

    /// The question whether pictures may be sent, and its answer.
    private struct Question {
        let offer: EscalationOffer
        let answer: CheckedContinuation<Bool, Never>
    }

    var body: some View {
        Form {
            Section {
                Button("Choose a picture") { isChoosing = true }
                Button("Decode All", action: decode).disabled(!services.isModelReady || picture == nil)
                if !services.isModelReady { Text("No classifier is on this device yet.").foregroundStyle(.secondary) }
            }
            Section {
                ForEach(characters, id: \.index) { character in
                    HStack {
                        Text(verbatim: character.text).font(.title)
                        Spacer()
                        Text(verbatim: words(of: character))
                    }
                    .foregroundStyle(color(of: character))
                    .accessibilityElement(children: .combine)
                }
                if let problem { Text(verbatim: problem).foregroundStyle(.red) }
            }
        }
        .navigationTitle("Read")
        .fileImporter(isPresented: $isChoosing, allowedContentTypes: [.image, .pdf]) { choice in
            do {
                let url = try choice.get()
                // Files outside of the app's folder are opened with the user's permission alone.
                let isOpen = url.startAccessingSecurityScopedResource()
                defer { if isOpen { url.stopAccessingSecurityScopedResource() } }
                (picture, characters, problem) = ([UInt8](try Data(contentsOf: url)), [], nil)
            } catch {
                problem = error.localizedDescription
            }
        }
        .confirmationDialog(
            "Send \(question?.offer.pictures ?? 0) pictures to the cloud?", isPresented: $isAsking,
            titleVisibility: .visible
        ) {
            Button("Send") { reply(true) }
            Button("Keep on this device", role: .cancel) { reply(false) }
        }
        .onChange(of: isAsking) { _, isAsking in if !isAsking { reply(false) } }
        .onDisappear {
            reading?.cancel()
            reply(false)
        }
    }

    private func decode() {
        guard let picture else { return }
        reading?.cancel()
        reply(false)
        (characters, problem) = ([], nil)
        let pages = PageDecoder(proxy: services.proxy, decoder: services.decoder)
        reading = Task {
            do {
                for try await event in pages.decode(picture, consent: { await ask($0) }) {
                    if case .character(let character, _) = event { characters.append(character) }
                }
            } catch is CancellationError {
            } catch {
                problem = error.localizedDescription
            }
        }
    }

    private func ask(_ offer: EscalationOffer) async -> Bool {
        await withCheckedContinuation { answer in
            reply(false)
            (question, isAsking) = (Question(offer: offer, answer: answer), true)
        }
    }

    /// Answers the question that is open, if one is.
    private func reply(_ isAllowed: Bool) {
        question?.answer.resume(returning: isAllowed)
        (question, isAsking) = (nil, false)
    }

    private func words(of character: DecodedCharacter) -> String {
        let confidence = character.confidence.map { "\(Int($0 * 100))%" } ?? ""
        return character.verdict == .verified ? "Cloud" : confidence
    }

    private func color(of character: DecodedCharacter) -> Color {
        switch character.verdict {
        case .accepted, .verified: .green
        case .uncertain: .yellow
        case .unverified: .red
        }
    }
}
