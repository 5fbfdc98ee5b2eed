import HearthBase
import HearthCatalog
import HearthDelivery

/// The right of one request to use a loaded engine, which stays loaded until the lease ends.
///
/// It ends with ``end()`` or with its last reference. Take a lease for each request, not for the life of an app: a
/// new version may need the memory of the old one, which is freed after its last lease.
public final class EngineLease<Engine: Sendable>: Sendable {
    /// The release loaded.
    public let release: ReleaseIdentity
    /// The engine. Don't use it after the lease has ended.
    public let engine: Engine

    private let giveBack: Locked<(@Sendable () -> Void)?>

    init(_ release: ReleaseIdentity, _ engine: Engine, giveBack: @escaping @Sendable () -> Void) {
        self.release = release
        self.engine = engine
        self.giveBack = Locked(giveBack)
    }

    deinit { end() }

    /// Ends the lease; further calls do nothing.
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

    /// An engine with its memory.
    public init(_ engine: Engine, bytes: UInt64) {
        self.engine = engine
        self.bytes = bytes
    }
}
