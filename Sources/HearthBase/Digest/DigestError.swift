/// The codes of ``DigestError``.
public enum DigestErrorDomain: ErrorDomain {
    public static var codes: [ErrorCode<Self>] { [.indexInvalid, .unavailable] }
}

/// A digest that cannot be read or computed.
public typealias DigestError = HearthError<DigestErrorDomain>

extension ErrorCode<DigestErrorDomain> {
    /// A chunk index whose values are inconsistent.
    public static var indexInvalid: Self { "index-invalid" }
    /// The system's OpenSSL refuses the algorithm, as a FIPS provider refuses SHA-1.
    public static var unavailable: Self { "digest-unavailable" }
}
