import Foundation

// developer.apple.com/documentation/cryptokit/curve25519
public enum Curve25519 {
    // developer.apple.com/documentation/cryptokit/curve25519/signing
    public enum Signing {
        // developer.apple.com/documentation/cryptokit/curve25519/signing/publickey
        public struct PublicKey: Sendable {
            public init<D: ContiguousBytes>(rawRepresentation: D) throws {}
            public var rawRepresentation: Data { get {} }
            public func isValidSignature<S: DataProtocol, D: DataProtocol>(_ signature: S, for data: D) -> Bool {}
        }

        // developer.apple.com/documentation/cryptokit/curve25519/signing/privatekey
        public struct PrivateKey: Sendable {
            public init() {}
            public init<D: ContiguousBytes>(rawRepresentation: D) throws {}
            public var rawRepresentation: Data { get {} }
            public var publicKey: PublicKey { get {} }
            public func signature<D: DataProtocol>(for data: D) throws -> Data {}
        }
    }
}

// developer.apple.com/documentation/cryptokit/p256
public enum P256 {
    // developer.apple.com/documentation/cryptokit/p256/signing
    public enum Signing {
        // developer.apple.com/documentation/cryptokit/p256/signing/publickey
        public struct PublicKey: Sendable {
            public init<Bytes: RandomAccessCollection<UInt8>>(derRepresentation: Bytes) throws {}
            public var derRepresentation: Data { get {} }
            public func isValidSignature<D: DataProtocol>(_ signature: ECDSASignature, for data: D) -> Bool {}
        }

        // developer.apple.com/documentation/cryptokit/p256/signing/ecdsasignature
        public struct ECDSASignature: Sendable {
            public init<D: DataProtocol>(derRepresentation: D) throws {}
            public init<D: DataProtocol>(rawRepresentation: D) throws {}
            public var derRepresentation: Data { get {} }
        }
    }
}

// developer.apple.com/documentation/cryptokit/p384
public enum P384 {
    // developer.apple.com/documentation/cryptokit/p384/signing
    public enum Signing {
        // developer.apple.com/documentation/cryptokit/p384/signing/publickey
        public struct PublicKey: Sendable {
            public init<Bytes: RandomAccessCollection<UInt8>>(derRepresentation: Bytes) throws {}
            public var derRepresentation: Data { get {} }
            public func isValidSignature<D: DataProtocol>(_ signature: ECDSASignature, for data: D) -> Bool {}
        }

        // developer.apple.com/documentation/cryptokit/p384/signing/ecdsasignature
        public struct ECDSASignature: Sendable {
            public init<D: DataProtocol>(derRepresentation: D) throws {}
            public var derRepresentation: Data { get {} }
        }
    }
}

// developer.apple.com/documentation/cryptokit/p521
public enum P521 {
    // developer.apple.com/documentation/cryptokit/p521/signing
    public enum Signing {
        // developer.apple.com/documentation/cryptokit/p521/signing/publickey
        public struct PublicKey: Sendable {
            public init<Bytes: RandomAccessCollection<UInt8>>(derRepresentation: Bytes) throws {}
            public var derRepresentation: Data { get {} }
            public func isValidSignature<D: DataProtocol>(_ signature: ECDSASignature, for data: D) -> Bool {}
        }

        // developer.apple.com/documentation/cryptokit/p521/signing/ecdsasignature
        public struct ECDSASignature: Sendable {
            public init<D: DataProtocol>(derRepresentation: D) throws {}
            public var derRepresentation: Data { get {} }
        }
    }
}
