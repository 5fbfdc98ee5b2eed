// AES-GCM with the names of Apple's CryptoKit, over OpenSSL.
import CCrypto
import Foundation

public enum CryptoKitError: Error {
    case incorrectParameterSize, authenticationFailure
}

public enum AES {
    public enum GCM {
        public struct Nonce: Sendable {
            let bytes: [UInt8]

            public init<D: DataProtocol>(data: D) throws {
                guard data.count >= 12 else { throw CryptoKitError.incorrectParameterSize }
                bytes = Array(data)
            }
        }

        public struct SealedBox: Sendable {
            public let tag: Data
            public let ciphertext: Data
            public let nonce: Nonce

            public init<C: DataProtocol, T: DataProtocol>(nonce: Nonce, ciphertext: C, tag: T) throws {
                guard tag.count == 16 else { throw CryptoKitError.incorrectParameterSize }
                (self.nonce, self.ciphertext, self.tag) = (nonce, Data(ciphertext), Data(tag))
            }
        }

        public static func seal<Plaintext: DataProtocol, AuthenticatedData: DataProtocol>(
            _ message: Plaintext, using key: SymmetricKey, nonce: Nonce, authenticating label: AuthenticatedData
        ) throws -> SealedBox {
            let (bytes, tag) = try crypt(Array(message), key, nonce, Array(label), tag: nil)
            return try SealedBox(nonce: nonce, ciphertext: bytes, tag: tag)
        }

        public static func open<AuthenticatedData: DataProtocol>(
            _ box: SealedBox, using key: SymmetricKey, authenticating label: AuthenticatedData
        ) throws -> Data {
            Data(try crypt(Array(box.ciphertext), key, box.nonce, Array(label), tag: Array(box.tag)).bytes)
        }

        /// Opens if a tag is given, else seals.
        private static func crypt(
            _ bytes: [UInt8], _ key: SymmetricKey, _ nonce: Nonce, _ label: [UInt8], tag given: [UInt8]?
        ) throws -> (bytes: [UInt8], tag: [UInt8]) {
            let kinds = [16: EVP_aes_128_gcm(), 24: EVP_aes_192_gcm(), 32: EVP_aes_256_gcm()]
            guard let kind = kinds[key.bytes.count], let context = EVP_CIPHER_CTX_new() else {
                throw CryptoKitError.incorrectParameterSize
            }
            defer {
                EVP_CIPHER_CTX_free(context)
                ERR_clear_error()
            }
            var tag = given ?? [UInt8](repeating: 0, count: 16)
            var output = [UInt8](repeating: 0, count: bytes.count + 16)
            var (count, rest) = (Int32(0), Int32(0))
            guard EVP_CipherInit_ex(context, kind, nil, nil, nil, given == nil ? 1 : 0) == 1,
                EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_SET_IVLEN, Int32(nonce.bytes.count), nil) == 1,
                EVP_CipherInit_ex(context, nil, nil, key.bytes, nonce.bytes, given == nil ? 1 : 0) == 1,
                EVP_CipherUpdate(context, nil, &count, label, Int32(label.count)) == 1,
                EVP_CipherUpdate(context, &output, &count, bytes, Int32(bytes.count)) == 1
            else { throw CryptoKitError.incorrectParameterSize }
            if given != nil {
                guard EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_SET_TAG, 16, &tag) == 1 else {
                    throw CryptoKitError.authenticationFailure
                }
            }
            var end = [UInt8](repeating: 0, count: 16)
            guard EVP_CipherFinal_ex(context, &end, &rest) == 1, rest == 0 else {
                throw CryptoKitError.authenticationFailure
            }
            if given == nil {
                guard EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_GET_TAG, 16, &tag) == 1 else {
                    throw CryptoKitError.incorrectParameterSize
                }
            }
            return (Array(output.prefix(Int(count))), tag)
        }
    }
}
