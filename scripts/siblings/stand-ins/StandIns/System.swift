// Calls of Darwin's C library, over Linux's.
@_exported import Foundation
@_exported import FoundationNetworking
import Glibc

public typealias CFData = NSData
public typealias CFDictionary = NSDictionary
public typealias CFString = NSString
public typealias CFError = NSError

/// Overwrites memory so that no optimization leaves it out.
@discardableResult
public func memset_s(_ memory: UnsafeMutableRawPointer!, _ size: Int, _ value: Int32, _ count: Int) -> Int32 {
    guard count <= size else { return EOVERFLOW }
    explicit_bzero(memory, count)
    if value != 0 { memset(memory, value, count) }
    return 0
}

/// Compares bytes in a time that does not depend on them; 0 if they are equal.
public func timingsafe_bcmp(_ left: UnsafeRawPointer!, _ right: UnsafeRawPointer!, _ count: Int) -> Int32 {
    var difference: UInt8 = 0
    for index in 0..<count {
        difference |=
            left.load(fromByteOffset: index, as: UInt8.self) ^ right.load(fromByteOffset: index, as: UInt8.self)
    }
    return Int32(difference)
}

public enum tls_protocol_version_t { case TLSv12, TLSv13 }

extension URLSessionConfiguration {
    /// Accepted and not used: libcurl below FoundationNetworking speaks TLS 1.2 at least.
    public var tlsMinimumSupportedProtocolVersion: tls_protocol_version_t {
        get { .TLSv12 }
        set {}
    }
    /// Accepted and not used: FoundationNetworking fails at once without a network.
    public var waitsForConnectivity: Bool {
        get { false }
        set {}
    }
}

nonisolated(unsafe) private var hasAskedForMemory = false

/// The memory that the system would still give: 3 GiB at the first call, and half of it later.
public func os_proc_available_memory() -> Int {
    defer { hasAskedForMemory = true }
    return hasAskedForMemory ? 3 << 29 : 3 << 30
}
