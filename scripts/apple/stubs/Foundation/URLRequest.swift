// developer.apple.com/documentation/foundation/nsurlrequest
open class NSURLRequest: NSObject, @unchecked Sendable {
    // developer.apple.com/documentation/foundation/nsurlrequest/cachepolicy-swift.enum
    public enum CachePolicy: UInt, Sendable {
        case useProtocolCachePolicy = 0
        case reloadIgnoringLocalCacheData = 1
        case returnCacheDataElseLoad = 2
        case returnCacheDataDontLoad = 3
    }
}

// developer.apple.com/documentation/foundation/urlrequest
public struct URLRequest: Hashable, Sendable {
    public typealias CachePolicy = NSURLRequest.CachePolicy
    public init(url: URL, cachePolicy: CachePolicy = .useProtocolCachePolicy, timeoutInterval: TimeInterval = 60.0) {}
    public var url: URL?
    public var cachePolicy: CachePolicy
    public var timeoutInterval: TimeInterval
    public var allowsCellularAccess: Bool
    public var allowsExpensiveNetworkAccess: Bool
    public var allowsConstrainedNetworkAccess: Bool
    public var httpMethod: String?
    public var allHTTPHeaderFields: [String: String]?
    public var httpBody: Data?
    public var httpShouldHandleCookies: Bool
    public func value(forHTTPHeaderField field: String) -> String? {}
    public mutating func setValue(_ value: String?, forHTTPHeaderField field: String) {}
    public mutating func addValue(_ value: String, forHTTPHeaderField field: String) {}
}

// developer.apple.com/documentation/foundation/urlresponse
open class URLResponse: NSObject, @unchecked Sendable {
    public var url: URL? { get {} }
    public var mimeType: String? { get {} }
    public var expectedContentLength: Int64 { get {} }
    public var suggestedFilename: String? { get {} }
}

// developer.apple.com/documentation/foundation/httpurlresponse
open class HTTPURLResponse: URLResponse, @unchecked Sendable {
    public var statusCode: Int { get {} }
    public var allHeaderFields: [AnyHashable: Any] { get {} }
    public func value(forHTTPHeaderField field: String) -> String? {}
}

// developer.apple.com/documentation/foundation/httpcookiestorage
open class HTTPCookieStorage: NSObject, @unchecked Sendable {}

// developer.apple.com/documentation/foundation/urlcredentialstorage
open class URLCredentialStorage: NSObject, @unchecked Sendable {}

// developer.apple.com/documentation/foundation/urlcache
open class URLCache: NSObject, @unchecked Sendable {}
