import Foundation
import HearthBase
import HearthClassification

/// Classifies pictures as an app does and tells how long it took, for `scripts/classify/speed.py`.
///
/// ```
/// HearthPictureBench MODEL THREADS FILE…
/// ```
/// A line of its input, `BATCH COUNT`, is answered with the seconds that `COUNT` pictures took.
@main struct PictureBench {
    static func main() async throws {
        let words = Array(CommandLine.arguments.dropFirst())
        guard words.count > 2, let threads = Int(words[1]), threads > 0 else { exit(64) }
        let classifier = try await ONNXClassifier.load(ClassifierFiles(local: Path(words[0])), threads: threads)
        let pictures = try words.dropFirst(2).map { name in
            try Picture(file: [UInt8](try LocalFileSystem().contents(ofFile: Path(name), limit: 1 << 24)))
        }
        while let line = readLine() {
            let numbers = line.split(separator: " ").compactMap { Int($0) }
            guard numbers.count == 2, numbers.allSatisfy({ $0 > 0 }) else { exit(64) }
            let (batch, count) = (numbers[0], numbers[1])
            let watch = TimeSource.system.stopwatch()
            for start in stride(from: 0, to: count, by: batch) {
                let part = (start..<start + batch).map { pictures[$0 % pictures.count] }
                _ = try await classifier.classify(part, top: 5)
            }
            FileHandle.standardOutput.write(Data("\(watch.elapsed.seconds)\n".utf8))
        }
    }
}
