import Foundation
import HearthClassification
import SwiftUI
import UniformTypeIdentifiers

/// Reads the characters of a picture: green where the classifier is sure, yellow where it is fairly sure, red otherwise.
struct ClassifyView: View {
    @Environment(ServiceContainer.self) private var services
    @State private var isChoosing = false
    @State private var picture: [UInt8]?
    @State private var characters: [DecodedCharacter] = []
    @State private var reading: Task<Void, Never>?
    @State private var problem: String?

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
                        Text(verbatim: character.confidence.map { "\(Int($0 * 100))%" } ?? "")
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
    }

    private func decode() {
        guard let picture else { return }
        reading?.cancel()
        (characters, problem) = ([], nil)
        let pages = PageDecoder(proxy: services.proxy, decoder: services.decoder)
        reading = Task {
            do {
                for try await event in pages.decode(picture) {
                    if case .character(let character, _) = event { characters.append(character) }
                }
            } catch is CancellationError {
            } catch {
                problem = error.localizedDescription
            }
        }
    }

    private func color(of character: DecodedCharacter) -> Color {
        switch character.verdict {
        case .accepted, .verified: .green
        case .uncertain: .yellow
        case .unverified: .red
        }
    }
}
