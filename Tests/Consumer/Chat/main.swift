import Foundation
import Hearth

// A conversation with a model file: Chat MODEL.GGUF. Each line of the input is a message.
let hearth = try Hearth()
let model = try await hearth.open(URL(filePath: CommandLine.arguments[1]))
let session = LanguageModelSession(model: model, instructions: "Answer in one sentence.")
// The most likely token each time, so that every run gives the same answers.
let options = GenerationOptions(sampling: .greedy, maximumNewTokens: 60)
while let line = readLine(), !line.isEmpty {
    for try await event in session.streamResponse(to: line, options: options).events {
        if case .text(let piece) = event { print(piece, terminator: "") }
    }
    print()
}
await hearth.close()
