import Foundation
import Hearth
import Observation

// Shows the models of an origin, brings one to the device and asks it: Picker MODELS.JSON FAMILY.
guard let manifest = URL(string: CommandLine.arguments[1]) else { exit(64) }
let hearth = try Hearth(origins: [Origin("main", manifest)])
let (library, downloads) = (hearth.library, hearth.downloads)
await library.refresh()
for row in library.rows { print(row.model.displayName, row.model.sizeText, row.model.memoryText) }

downloads.selectedModel = library.rows.first { $0.id.name == CommandLine.arguments[2] }?.model
try downloads.startDownload()
for await (state, isLoaded) in Observations({ (downloads.downloadState, downloads.isModelLoaded) }) {
    if case .downloading(let progress) = state { print(Int(100 * (progress ?? 0)), "%") }
    if case .failed(let failure) = state { fatalError("\(failure)") }
    if isLoaded { break }
}

let model = try await hearth.model(CommandLine.arguments[2])
let session = LanguageModelSession(model: model, instructions: "Answer in one sentence.")
let options = GenerationOptions(sampling: .greedy, maximumNewTokens: 60)
print(try await session.respond(to: "What is the capital of France?", options: options).content)
await hearth.close()
