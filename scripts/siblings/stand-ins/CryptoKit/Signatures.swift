// Ed25519 and ECDSA with the names of Apple's CryptoKit, over OpenSSL.
import CCrypto
import Foundation

/// A key of OpenSSL.
final class SystemKey: @unchecked Sendable {
    let pointer: OpaquePointer

    init?(_ pointer: OpaquePointer?) {
        guard let pointer else {
            ERR_clear_error()
            return nil
        }
        self.pointer = pointer
    }

    /// Reads `SubjectPublicKeyInfo` of a curve; nothing may follow it.
    convenience init?(der bytes: [UInt8], curve: String) {
        let key = bytes.withUnsafeBufferPointer { buffer -> OpaquePointer? in
            var position = buffer.baseAddress
            guard let key = d2i_PUBKEY(nil, &position, buffer.count) else { return nil }
            var name = [CChar](repeating: 0, count: 64)
            var length = 0
            guard let start = buffer.baseAddress, let position, position - start == buffer.count,
                EVP_PKEY_get_base_id(key) == EVP_PKEY_EC,
                EVP_PKEY_get_group_name(key, &name, name.count, &length) == 1,
                String(decoding: name.prefix(length).map { UInt8(bitPattern: $0) }, as: UTF8.self) == curve
            else {
                EVP_PKEY_free(key)
                return nil
            }
            return key
        }
        self.init(key)
    }

    deinit { EVP_PKEY_free(pointer) }

    var der: Data {
        var bytes: UnsafeMutablePointer<UInt8>?
        let count = i2d_PUBKEY(pointer, &bytes)
        defer { CRYPTO_free(bytes, nil, 0) }
        guard count > 0, let bytes else { return Data() }
        return Data(bytes: bytes, count: Int(count))
    }

    func accepts(_ signature: [UInt8], of message: [UInt8], digest: OpaquePointer?) -> Bool {
        guard let context = EVP_MD_CTX_new() else { return false }
        defer {
            EVP_MD_CTX_free(context)
            ERR_clear_error()
        }
        guard EVP_DigestVerifyInit(context, nil, digest, nil, pointer) == 1 else { return false }
        // An empty array has no address.
        return EVP_DigestVerify(
            context, signature + [0], signature.count, message + [0], message.count) == 1
    }
}

/// Whether bytes are one ECDSA signature in DER form.
func isSignature(der bytes: [UInt8]) -> Bool {
    bytes.withUnsafeBufferPointer { buffer in
        var position = buffer.baseAddress
        guard let signature = d2i_ECDSA_SIG(nil, &position, buffer.count) else {
            ERR_clear_error()
            return false
        }
        ECDSA_SIG_free(signature)
        guard let start = buffer.baseAddress, let position else { return false }
        return position - start == buffer.count
    }
}

public enum Curve25519 {
    public enum Signing {
        public struct PublicKey: Sendable {
            private let key: SystemKey
            public let rawRepresentation: Data

            public init<D: ContiguousBytes>(rawRepresentation: D) throws {
                let bytes = rawRepresentation.withUnsafeBytes { Array($0) }
                guard bytes.count == 32,
                    let key = SystemKey(EVP_PKEY_new_raw_public_key(EVP_PKEY_ED25519, nil, bytes, 32))
                else { throw CryptoKitError.incorrectParameterSize }
                (self.key, self.rawRepresentation) = (key, Data(bytes))
            }

            public func isValidSignature<S: DataProtocol, D: DataProtocol>(_ signature: S, for data: D) -> Bool {
                key.accepts(Array(signature), of: Array(data), digest: nil)
            }
        }

        public struct PrivateKey: Sendable {
            private let key: SystemKey
            public let publicKey: PublicKey

            public init<D: ContiguousBytes>(rawRepresentation: D) throws {
                let bytes = rawRepresentation.withUnsafeBytes { Array($0) }
                guard bytes.count == 32,
                    let key = SystemKey(EVP_PKEY_new_raw_private_key(EVP_PKEY_ED25519, nil, bytes, 32))
                else { throw CryptoKitError.incorrectParameterSize }
                var half = [UInt8](repeating: 0, count: 32)
                var count = 32
                guard EVP_PKEY_get_raw_public_key(key.pointer, &half, &count) == 1 else {
                    throw CryptoKitError.incorrectParameterSize
                }
                (self.key, publicKey) = (key, try PublicKey(rawRepresentation: half))
            }

            /// Apple's signatures contain random numbers; these are those of RFC 8032.
            public func signature<D: DataProtocol>(for data: D) throws -> Data {
                var bytes = [UInt8](repeating: 0, count: 64)
                var count = 64
                let message = Array(data)
                guard let context = EVP_MD_CTX_new() else { throw CryptoKitError.incorrectParameterSize }
                defer { EVP_MD_CTX_free(context) }
                guard EVP_DigestSignInit(context, nil, nil, nil, key.pointer) == 1,
                    EVP_DigestSign(context, &bytes, &count, message + [0], message.count) == 1, count == 64
                else { throw CryptoKitError.incorrectParameterSize }
                return Data(bytes)
            }
        }
    }
}

public enum P256 {
    public enum Signing {
        public struct PublicKey: Sendable {
            private let key: SystemKey

            public init<Bytes: RandomAccessCollection<UInt8>>(derRepresentation: Bytes) throws {
                guard let key = SystemKey(der: Array(derRepresentation), curve: "prime256v1") else {
                    throw CryptoKitError.incorrectParameterSize
                }
                self.key = key
            }

            public var derRepresentation: Data { key.der }

            public func isValidSignature<D: DataProtocol>(_ signature: ECDSASignature, for data: D) -> Bool {
                key.accepts(Array(signature.derRepresentation), of: Array(data), digest: EVP_sha256())
            }
        }

        public struct ECDSASignature: Sendable {
            public let derRepresentation: Data

            public init<D: DataProtocol>(derRepresentation: D) throws {
                guard isSignature(der: Array(derRepresentation)) else { throw CryptoKitError.incorrectParameterSize }
                self.derRepresentation = Data(derRepresentation)
            }
        }
    }
}

public enum P384 {
    public enum Signing {
        public struct PublicKey: Sendable {
            private let key: SystemKey

            public init<Bytes: RandomAccessCollection<UInt8>>(derRepresentation: Bytes) throws {
                guard let key = SystemKey(der: Array(derRepresentation), curve: "secp384r1") else {
                    throw CryptoKitError.incorrectParameterSize
                }
                self.key = key
            }

            public var derRepresentation: Data { key.der }

            public func isValidSignature<D: DataProtocol>(_ signature: ECDSASignature, for data: D) -> Bool {
                key.accepts(Array(signature.derRepresentation), of: Array(data), digest: EVP_sha384())
            }
        }

        public struct ECDSASignature: Sendable {
            public let derRepresentation: Data

            public init<D: DataProtocol>(derRepresentation: D) throws {
                guard isSignature(der: Array(derRepresentation)) else { throw CryptoKitError.incorrectParameterSize }
                self.derRepresentation = Data(derRepresentation)
            }
        }
    }
}

public enum P521 {
    public enum Signing {
        public struct PublicKey: Sendable {
            private let key: SystemKey

            public init<Bytes: RandomAccessCollection<UInt8>>(derRepresentation: Bytes) throws {
                guard let key = SystemKey(der: Array(derRepresentation), curve: "secp521r1") else {
                    throw CryptoKitError.incorrectParameterSize
                }
                self.key = key
            }

            public var derRepresentation: Data { key.der }

            public func isValidSignature<D: DataProtocol>(_ signature: ECDSASignature, for data: D) -> Bool {
                key.accepts(Array(signature.derRepresentation), of: Array(data), digest: EVP_sha512())
            }
        }

        public struct ECDSASignature: Sendable {
            public let derRepresentation: Data

            public init<D: DataProtocol>(derRepresentation: D) throws {
                guard isSignature(der: Array(derRepresentation)) else { throw CryptoKitError.incorrectParameterSize }
                self.derRepresentation = Data(derRepresentation)
            }
        }
    }
}
