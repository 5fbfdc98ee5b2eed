import Foundation

// developer.apple.com/documentation/cryptokit/digest
public protocol Digest: Hashable, Sequence<UInt8>, ContiguousBytes, CustomStringConvertible, Sendable {
    static var byteCount: Int { get }
}

// developer.apple.com/documentation/cryptokit/hashfunction
public protocol HashFunction: Sendable {
    associatedtype Digest: CryptoKit.Digest
    static var blockByteCount: Int { get }
    init()
    mutating func update(bufferPointer: UnsafeRawBufferPointer)
    func finalize() -> Digest
}

extension HashFunction {
    // developer.apple.com/documentation/cryptokit/hashfunction/hash(data:)
    public static func hash<D: DataProtocol>(data: D) -> Digest {}
    // developer.apple.com/documentation/cryptokit/hashfunction/update(data:)
    public mutating func update<D: DataProtocol>(data: D) {}
}

// developer.apple.com/documentation/cryptokit/sha256digest
public struct SHA256Digest: Digest {
    public static var byteCount: Int { get {} }
    public func makeIterator() -> Array<UInt8>.Iterator {}
    public func withUnsafeBytes<R>(_ body: (UnsafeRawBufferPointer) throws -> R) rethrows -> R {}
    public var description: String { get {} }
}

// developer.apple.com/documentation/cryptokit/sha384digest
public struct SHA384Digest: Digest {
    public static var byteCount: Int { get {} }
    public func makeIterator() -> Array<UInt8>.Iterator {}
    public func withUnsafeBytes<R>(_ body: (UnsafeRawBufferPointer) throws -> R) rethrows -> R {}
    public var description: String { get {} }
}

// developer.apple.com/documentation/cryptokit/sha384
public struct SHA384: HashFunction {
    public static var blockByteCount: Int { get {} }
    public init() {}
    public mutating func update(bufferPointer: UnsafeRawBufferPointer) {}
    public func finalize() -> SHA384Digest {}
}

// developer.apple.com/documentation/cryptokit/sha512digest
public struct SHA512Digest: Digest {
    public static var byteCount: Int { get {} }
    public func makeIterator() -> Array<UInt8>.Iterator {}
    public func withUnsafeBytes<R>(_ body: (UnsafeRawBufferPointer) throws -> R) rethrows -> R {}
    public var description: String { get {} }
}

// developer.apple.com/documentation/cryptokit/sha256
public struct SHA256: HashFunction {
    public static var blockByteCount: Int { get {} }
    public init() {}
    public mutating func update(bufferPointer: UnsafeRawBufferPointer) {}
    public func finalize() -> SHA256Digest {}
}

// developer.apple.com/documentation/cryptokit/sha512
public struct SHA512: HashFunction {
    public static var blockByteCount: Int { get {} }
    public init() {}
    public mutating func update(bufferPointer: UnsafeRawBufferPointer) {}
    public func finalize() -> SHA512Digest {}
}

// developer.apple.com/documentation/cryptokit/insecure
public enum Insecure {
    // developer.apple.com/documentation/cryptokit/insecure/sha1
    public struct SHA1: HashFunction {
        public static var blockByteCount: Int { get {} }
        public init() {}
        public mutating func update(bufferPointer: UnsafeRawBufferPointer) {}
        public func finalize() -> SHA1Digest {}
    }

    // developer.apple.com/documentation/cryptokit/insecure/sha1digest
    public struct SHA1Digest: Digest {
        public static var byteCount: Int { get {} }
        public func makeIterator() -> Array<UInt8>.Iterator {}
        public func withUnsafeBytes<R>(_ body: (UnsafeRawBufferPointer) throws -> R) rethrows -> R {}
        public var description: String { get {} }
    }

    // developer.apple.com/documentation/cryptokit/insecure/md5
    public struct MD5: HashFunction {
        public static var blockByteCount: Int { get {} }
        public init() {}
        public mutating func update(bufferPointer: UnsafeRawBufferPointer) {}
        public func finalize() -> MD5Digest {}
    }

    // developer.apple.com/documentation/cryptokit/insecure/md5digest
    public struct MD5Digest: Digest {
        public static var byteCount: Int { get {} }
        public func makeIterator() -> Array<UInt8>.Iterator {}
        public func withUnsafeBytes<R>(_ body: (UnsafeRawBufferPointer) throws -> R) rethrows -> R {}
        public var description: String { get {} }
    }
}

// developer.apple.com/documentation/cryptokit/symmetrickey
public struct SymmetricKey: ContiguousBytes, Sendable {
    public init<D: ContiguousBytes>(data: D) {}
    public func withUnsafeBytes<R>(_ body: (UnsafeRawBufferPointer) throws -> R) rethrows -> R {}
}

// developer.apple.com/documentation/cryptokit/hashedauthenticationcode
public struct HashedAuthenticationCode<H: HashFunction>: Hashable, Sequence, ContiguousBytes, Sendable {
    public func makeIterator() -> Array<UInt8>.Iterator {}
    public func withUnsafeBytes<R>(_ body: (UnsafeRawBufferPointer) throws -> R) rethrows -> R {}
}

// developer.apple.com/documentation/cryptokit/hmac
public struct HMAC<H: HashFunction>: Sendable {
    public static func authenticationCode<D: DataProtocol>(for data: D, using key: SymmetricKey) -> HashedAuthenticationCode<H> {}
}
