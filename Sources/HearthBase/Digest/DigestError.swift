extension SHA256Digest: ErrorDomain {}

/// A digest that cannot be read or computed.
public typealias DigestError = HearthError<SHA256Digest>

extension ErrorCode<SHA256Digest> {
    /// A chunk index whose values are inconsistent.
    public static var indexInvalid: Self { "index-invalid" }
    /// The system's OpenSSL refuses the algorithm, as a FIPS provider refuses SHA-1.
    public static var unavailable: Self { "digest-unavailable" }
}
