import Foundation
import HearthBase

/// The default model as set-up left it in the cache: real weights for tests that need some.
package enum TestModel {
    /// The name of the file.
    package static let fileName = "SmolLM2-135M-Instruct.Q4_1.gguf"

    /// The cache of set-up, found as `scripts/env.sh` finds it.
    package static var cache: Path {
        let environment = ProcessInfo.processInfo.environment
        func folder(_ variable: String, _ rest: String) -> Path? {
            environment[variable].flatMap { $0.isEmpty ? nil : Path($0 + rest) }
        }
        return folder("HEARTH_CACHE", "") ?? folder("XDG_CACHE_HOME", "/hearth") ?? folder("HOME", "/.cache/hearth")
            ?? Path(NSHomeDirectory() + "/.cache/hearth")
    }

    /// The weights. A test that needs them fails without them: `make setup` fetches them.
    package static var path: Path { Path(cache.string + "/models/" + fileName) }

    /// The tiny models with random weights that `scripts/tiny-models.py` made; it tells what each is.
    package enum Tiny: String, Sendable, CaseIterable {
        case projector, grid, recurrent, vectors, window, thinking
        case twoWayProjector = "projector-two-way"
        case gridProjector = "projector-grid"
        case split = "split-00001-of-00003"
    }

    /// A tiny model of set-up: in a folder named after the script that made it, as `scripts/env.sh` says.
    package static func path(_ model: Tiny) throws -> Path {
        let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        let script = try Data(contentsOf: root.appending(path: "scripts/tiny-models.py"))
        return Path("\(cache.string)/tiny/\(SHA256Digest(hashing: script).short)/\(model.rawValue).gguf")
    }
}
