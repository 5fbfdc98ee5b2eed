import Foundation
import HearthBase

/// The default model in the cache of the set-up: real weights for tests that need them.
package enum TestModel {
    /// The name of the file.
    package static let fileName = "SmolLM2-135M-Instruct.Q4_1.gguf"

    /// The cache of the set-up, found in the same way as in `scripts/env.sh`.
    package static var cache: Path {
        let environment = ProcessInfo.processInfo.environment
        func folder(_ variable: String, _ rest: String) -> Path? {
            environment[variable].flatMap { $0.isEmpty ? nil : Path($0 + rest) }
        }
        return folder("HEARTH_CACHE", "") ?? folder("XDG_CACHE_HOME", "/hearth") ?? folder("HOME", "/.cache/hearth")
            ?? Path(NSHomeDirectory() + "/.cache/hearth")
    }

    /// The weights of the default model. A test that needs them fails without them: `make setup` fetches them.
    package static var path: Path { Path(cache.string + "/models/" + fileName) }

    /// The tiny models with random weights from `scripts/tiny-models.py`, which describes each of them.
    package enum Tiny: String, Sendable, CaseIterable {
        case projector, grid, recurrent, vectors, window, plain, thinking
        case twoWayProjector = "projector-two-way"
        case gridProjector = "projector-grid"
        case split = "split-00001-of-00003"
    }

    /// The model of tests to which no answer's meaning matters: the tiny model most like the default one, and in the full
    /// extent the default one.
    package static var light: Path { get throws { TestExtent.isFull ? path : try path(.plain) } }

    /// The path of a tiny model: in a folder with the name of the script's digest, as in `scripts/env.sh`.
    package static func path(_ model: Tiny) throws -> Path {
        let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        let script = try Data(contentsOf: root.appending(path: "scripts/tiny-models.py"))
        return Path("\(cache.string)/tiny/\(SHA256Digest(hashing: script).short)/\(model.rawValue).gguf")
    }
}
