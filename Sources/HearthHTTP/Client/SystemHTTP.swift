/// The HTTP client of this system.
package enum SystemHTTP {
    /// A client with its own connections: libcurl on Linux, `URLSession` on Apple platforms.
    /// - Parameter version: sent as `hearth/<version>` in the `User-Agent` header.
    package static func client(version: String = "1") -> any HTTPClient {
        #if canImport(CCurl)
        CurlHTTPClient(version: version)
        #else
        URLSessionHTTPClient(version: version)
        #endif
    }
}
