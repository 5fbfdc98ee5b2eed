import HearthBase
import HearthCatalog
import HearthInference

/// What an engine is loaded from.
package enum EngineSource: Sendable, Hashable {
    /// An installed or bundled release.
    case release(ReleaseIdentity)
    /// Files of the user.
    case files(ReleaseFiles)

    /// The release, `nil` for files.
    package var release: ReleaseIdentity? {
        guard case .release(let release) = self else { return nil }
        return release
    }

    /// The name to display.
    package var name: String {
        switch self {
        case .release(let release): release.description
        case .files(let files): files.weights.lastComponent
        }
    }
}

/// A source that is ready to be opened.
struct PreparedEngine: Sendable {
    /// Whether the engine reads pictures.
    var isVision: Bool
    /// Plans the engine's memory in bytes beside the part of the device's memory in use. Blocks.
    /// Throws `not-enough-memory`.
    var plan: @Sendable (_ occupied: UInt64) throws -> UInt64
    /// Opens the engine beside the part of the device's memory in use; takes the progress, 0...1.
    var open:
        @Sendable (_ occupied: UInt64, _ progress: @escaping @Sendable (Float) -> Void) async throws ->
            any InferenceEngine
    /// Prepares the engine with another context window, in tokens; `isPlain` for one whose cache has not fewer bits
    /// because of that. `nil` where the settings say how long the window is.
    var widened: (@Sendable (_ window: Int, _ isPlain: Bool) -> PreparedEngine)?
    /// Ends the claim on the files, once the engine is unloaded or could not be opened.
    var close: @Sendable () -> Void = {}
}

/// The right of one request to use a loaded engine, which stays loaded until the lease ends.
///
/// It ends with ``end()`` or with its last reference.
package final class EngineLease: Sendable {
    /// What the engine was loaded from.
    package let source: EngineSource
    /// The engine. Don't use it after the lease has ended.
    package let engine: any InferenceEngine

    private let giveBack: Locked<(@Sendable () -> Void)?>

    init(_ source: EngineSource, _ engine: any InferenceEngine, giveBack: @escaping @Sendable () -> Void) {
        self.source = source
        self.engine = engine
        self.giveBack = Locked(giveBack)
    }

    deinit { end() }

    /// The release loaded, `nil` for files.
    package var release: ReleaseIdentity? { source.release }

    /// Ends the lease; further calls do nothing.
    package func end() {
        let giveBack = giveBack.withLock { giveBack in
            defer { giveBack = nil }
            return giveBack
        }
        giveBack?()
    }
}
