import HearthBase

/// The use of a loaded engine, for as long as a request takes: the engine stays loaded until this ends.
///
/// It ends with ``end()`` or with its last reference. Take one for each request rather than one for the whole life of an app:
/// a new version takes an old one's memory only when the last lease on the old one has ended.
public final class EngineLease<Engine: Sendable>: Sendable {
    /// The release that was loaded.
    public let release: ReleaseIdentity
    /// What was loaded. Not to be used after the lease has ended.
    public let engine: Engine

    private let giveBack: Locked<(@Sendable () -> Void)?>

    init(_ release: ReleaseIdentity, _ engine: Engine, giveBack: @escaping @Sendable () -> Void) {
        self.release = release
        self.engine = engine
        self.giveBack = Locked(giveBack)
    }

    deinit { end() }

    /// Gives the engine back; doing so twice is harmless.
    public func end() {
        let giveBack = giveBack.withLock { giveBack in
            defer { giveBack = nil }
            return giveBack
        }
        giveBack?()
    }
}

/// An engine that was just loaded.
public struct LoadedEngine<Engine: Sendable>: Sendable {
    public let engine: Engine
    /// The memory it takes, in bytes.
    public let bytes: UInt64

    /// An engine of that size.
    public init(_ engine: Engine, bytes: UInt64) {
        self.engine = engine
        self.bytes = bytes
    }
}
