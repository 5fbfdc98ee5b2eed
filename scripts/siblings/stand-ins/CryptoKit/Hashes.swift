// Hash functions and HMAC with the names of Apple's CryptoKit, over OpenSSL.
import CCrypto
import Foundation

/// The running state of a digest, copied before it is written when another value shares it.
final class DigestState: @unchecked Sendable {
    let context: OpaquePointer

    init(_ kind: OpaquePointer?) {
        guard let context = EVP_MD_CTX_new(), EVP_DigestInit_ex(context, kind, nil) == 1 else {
            preconditionFailure("OpenSSL has no such digest")
        }
        self.context = context
    }

    init(copying other: DigestState) {
        guard let context = EVP_MD_CTX_new(), EVP_MD_CTX_copy_ex(context, other.context) == 1 else {
            preconditionFailure("OpenSSL has no memory for a digest")
        }
        self.context = context
    }

    deinit { EVP_MD_CTX_free(context) }

    /// The digest of the bytes so far, which leaves this state as it is.
    func bytes() -> [UInt8] {
        let copy = DigestState(copying: self)
        var bytes = [UInt8](repeating: 0, count: Int(EVP_MAX_MD_SIZE))
        var count: UInt32 = 0
        guard EVP_DigestFinal_ex(copy.context, &bytes, &count) == 1 else {
            preconditionFailure("OpenSSL made no digest")
        }
        return Array(bytes.prefix(Int(count)))
    }
}

public protocol Digest: Hashable, Sequence<UInt8>, Sendable {
    init(standIn bytes: [UInt8])
}

public protocol HashFunction: Sendable {
    associatedtype Digest: CryptoKit.Digest
    static var blockByteCount: Int { get }
    init()
    mutating func update(bufferPointer: UnsafeRawBufferPointer)
    func finalize() -> Digest
}

extension HashFunction {
    public mutating func update<D: DataProtocol>(data: D) {
        for region in data.regions { region.withUnsafeBytes { update(bufferPointer: $0) } }
    }

    public static func hash<D: DataProtocol>(data: D) -> Digest {
        var function = Self()
        function.update(data: data)
        return function.finalize()
    }
}

/// A digest of OpenSSL as a value.
public struct SystemHash: Sendable {
    private var state: DigestState

    init(_ kind: OpaquePointer?) { state = DigestState(kind) }

    mutating func update(_ bytes: UnsafeRawBufferPointer) {
        if !isKnownUniquelyReferenced(&state) { state = DigestState(copying: state) }
        guard EVP_DigestUpdate(state.context, bytes.baseAddress, bytes.count) == 1 else {
            preconditionFailure("OpenSSL took no bytes")
        }
    }

    func bytes() -> [UInt8] { state.bytes() }
}

public struct SHA256Digest: Digest {
    private let bytes: [UInt8]
    public init(standIn bytes: [UInt8]) { self.bytes = bytes }
    public func makeIterator() -> Array<UInt8>.Iterator { bytes.makeIterator() }
}

public struct SHA384Digest: Digest {
    private let bytes: [UInt8]
    public init(standIn bytes: [UInt8]) { self.bytes = bytes }
    public func makeIterator() -> Array<UInt8>.Iterator { bytes.makeIterator() }
}

public struct SHA512Digest: Digest {
    private let bytes: [UInt8]
    public init(standIn bytes: [UInt8]) { self.bytes = bytes }
    public func makeIterator() -> Array<UInt8>.Iterator { bytes.makeIterator() }
}

public struct SHA256: HashFunction {
    private var hash = SystemHash(EVP_sha256())
    public static var blockByteCount: Int { 64 }
    public init() {}
    public mutating func update(bufferPointer: UnsafeRawBufferPointer) { hash.update(bufferPointer) }
    public func finalize() -> SHA256Digest { SHA256Digest(standIn: hash.bytes()) }
}

public struct SHA384: HashFunction {
    private var hash = SystemHash(EVP_sha384())
    public static var blockByteCount: Int { 128 }
    public init() {}
    public mutating func update(bufferPointer: UnsafeRawBufferPointer) { hash.update(bufferPointer) }
    public func finalize() -> SHA384Digest { SHA384Digest(standIn: hash.bytes()) }
}

public struct SHA512: HashFunction {
    private var hash = SystemHash(EVP_sha512())
    public static var blockByteCount: Int { 128 }
    public init() {}
    public mutating func update(bufferPointer: UnsafeRawBufferPointer) { hash.update(bufferPointer) }
    public func finalize() -> SHA512Digest { SHA512Digest(standIn: hash.bytes()) }
}

public enum Insecure {
    public struct SHA1Digest: Digest {
        private let bytes: [UInt8]
        public init(standIn bytes: [UInt8]) { self.bytes = bytes }
        public func makeIterator() -> Array<UInt8>.Iterator { bytes.makeIterator() }
    }

    public struct MD5Digest: Digest {
        private let bytes: [UInt8]
        public init(standIn bytes: [UInt8]) { self.bytes = bytes }
        public func makeIterator() -> Array<UInt8>.Iterator { bytes.makeIterator() }
    }

    public struct SHA1: HashFunction {
        private var hash = SystemHash(EVP_sha1())
        public static var blockByteCount: Int { 64 }
        public init() {}
        public mutating func update(bufferPointer: UnsafeRawBufferPointer) { hash.update(bufferPointer) }
        public func finalize() -> SHA1Digest { SHA1Digest(standIn: hash.bytes()) }
    }

    public struct MD5: HashFunction {
        private var hash = SystemHash(EVP_md5())
        public static var blockByteCount: Int { 64 }
        public init() {}
        public mutating func update(bufferPointer: UnsafeRawBufferPointer) { hash.update(bufferPointer) }
        public func finalize() -> MD5Digest { MD5Digest(standIn: hash.bytes()) }
    }
}

public struct SymmetricKey: Sendable {
    let bytes: [UInt8]
    public init<D: ContiguousBytes>(data: D) { bytes = data.withUnsafeBytes { Array($0) } }
}

public struct HashedAuthenticationCode<H: HashFunction>: Sequence, Sendable {
    let bytes: [UInt8]
    public func makeIterator() -> Array<UInt8>.Iterator { bytes.makeIterator() }
}

/// The keyed hash of RFC 2104.
public enum HMAC<H: HashFunction> {
    public static func authenticationCode<D: DataProtocol>(
        for data: D, using key: SymmetricKey
    ) -> HashedAuthenticationCode<H> {
        var block = key.bytes.count > H.blockByteCount ? Array(H.hash(data: key.bytes)) : key.bytes
        block += [UInt8](repeating: 0, count: H.blockByteCount - block.count)
        var inner = H()
        inner.update(data: block.map { $0 ^ 0x36 })
        inner.update(data: data)
        var outer = H()
        outer.update(data: block.map { $0 ^ 0x5C })
        outer.update(data: Array(inner.finalize()))
        return HashedAuthenticationCode(bytes: Array(outer.finalize()))
    }
}
