import Foundation

// developer.apple.com/documentation/cryptokit/aes
public enum AES {
    // developer.apple.com/documentation/cryptokit/aes/gcm
    public enum GCM {
        // developer.apple.com/documentation/cryptokit/aes/gcm/nonce
        public struct Nonce: ContiguousBytes, Sendable {
            public init<D: DataProtocol>(data: D) throws {}
            public func withUnsafeBytes<R>(_ body: (UnsafeRawBufferPointer) throws -> R) rethrows -> R {}
        }

        // developer.apple.com/documentation/cryptokit/aes/gcm/sealedbox
        public struct SealedBox: Sendable {
            public let tag: Data
            public let ciphertext: Data
            public let nonce: Nonce
            public init<C: DataProtocol, T: DataProtocol>(nonce: Nonce, ciphertext: C, tag: T) throws {}
        }

        // developer.apple.com/documentation/cryptokit/aes/gcm/seal(_:using:nonce:authenticating:)
        public static func seal<Plaintext: DataProtocol, AuthenticatedData: DataProtocol>(
            _ message: Plaintext, using key: SymmetricKey, nonce: Nonce? = nil,
            authenticating authenticatedData: AuthenticatedData
        ) throws -> SealedBox {}

        // developer.apple.com/documentation/cryptokit/aes/gcm/open(_:using:authenticating:)
        public static func open<AuthenticatedData: DataProtocol>(
            _ sealedBox: SealedBox, using key: SymmetricKey, authenticating authenticatedData: AuthenticatedData
        ) throws -> Data {}
    }
}
