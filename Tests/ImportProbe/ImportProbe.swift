import Foundation
import HearthBase
import HearthImport

/// Imports a folder of safetensors as a GGUF file: `HearthImportProbe FOLDER FILE`.
@main
enum ImportProbe {
    static func main() {
        do {
            let arguments = CommandLine.arguments
            guard arguments.count == 3 else { return fail("usage: HearthImportProbe FOLDER FILE") }
            let model = try ModelImport(folder: Path(arguments[1]))
            print(model.architecture, model.summary, model.expectedSize)
            for note in model.notes { print(note) }
            let report = try model.write(to: Path(arguments[2]), flag: StopFlag()) { _ in }
            print("resumed \(report.resumedBytes) rounded \(report.roundedScales) \(report.roundedBlocks)")
        } catch {
            fail("\(error)")
        }
    }

    private static func fail(_ message: String) {
        FileHandle.standardError.write(Data("\(message)\n".utf8))
        exit(1)
    }
}
