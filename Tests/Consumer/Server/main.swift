import Foundation
import Hearth
import HearthServer

// Serves the models of the app to clients of OpenAI, Anthropic, Ollama and llama.cpp: Server MODEL.GGUF PORT.
let hearth = try Hearth()
_ = try await hearth.manager.pull(try ModelReference(parsing: CommandLine.arguments[1]))
var options = HearthServer.Options()
options.port = UInt16(CommandLine.arguments[2])
try await HearthServer(hearth, options).run()
