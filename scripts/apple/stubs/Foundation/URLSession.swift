// developer.apple.com/documentation/security/tls_protocol_version_t
public enum tls_protocol_version_t: UInt16, Sendable {
    case TLSv12 = 0x0303
    case TLSv13 = 0x0304
}

// developer.apple.com/documentation/foundation/urlsession
open class URLSession: NSObject, @unchecked Sendable {
    public class var shared: URLSession { get {} }
    public init(configuration: URLSessionConfiguration) {}
    public init(configuration: URLSessionConfiguration, delegate: (any URLSessionDelegate)?, delegateQueue queue: OperationQueue?) {}
    public var delegateQueue: OperationQueue { get {} }
    public var delegate: (any URLSessionDelegate)? { get {} }
    public var configuration: URLSessionConfiguration { get {} }
    public func dataTask(with request: URLRequest) -> URLSessionDataTask {}
    public func downloadTask(with request: URLRequest) -> URLSessionDownloadTask {}
    public func downloadTask(withResumeData resumeData: Data) -> URLSessionDownloadTask {}
    public func finishTasksAndInvalidate() {}
    public func invalidateAndCancel() {}
    public var allTasks: [URLSessionTask] { get async {} }
    public func getAllTasks(completionHandler: @escaping @Sendable ([URLSessionTask]) -> Void) {}

    // developer.apple.com/documentation/foundation/urlsession/responsedisposition
    public enum ResponseDisposition: Int, Sendable {
        case cancel = 0
        case allow = 1
        case becomeDownload = 2
        case becomeStream = 3
    }
}

// developer.apple.com/documentation/foundation/urlsessionconfiguration
open class URLSessionConfiguration: NSObject, @unchecked Sendable {
    init(stub: Void) {}
    public class var `default`: URLSessionConfiguration { get {} }
    public class var ephemeral: URLSessionConfiguration { get {} }
    public class func background(withIdentifier identifier: String) -> URLSessionConfiguration {}
    public var identifier: String? { get {} }
    public var requestCachePolicy: NSURLRequest.CachePolicy
    public var timeoutIntervalForRequest: TimeInterval
    public var timeoutIntervalForResource: TimeInterval
    public var allowsCellularAccess: Bool
    public var allowsExpensiveNetworkAccess: Bool
    public var allowsConstrainedNetworkAccess: Bool
    public var waitsForConnectivity: Bool
    public var isDiscretionary: Bool
    public var sharedContainerIdentifier: String?
    public var sessionSendsLaunchEvents: Bool
    public var connectionProxyDictionary: [AnyHashable: Any]?
    public var tlsMinimumSupportedProtocolVersion: tls_protocol_version_t
    public var httpShouldSetCookies: Bool
    public var httpAdditionalHeaders: [AnyHashable: Any]?
    public var httpMaximumConnectionsPerHost: Int
    public var httpCookieStorage: HTTPCookieStorage?
    public var urlCredentialStorage: URLCredentialStorage?
    public var urlCache: URLCache?
    // developer.apple.com/documentation/foundation/urlsessionconfiguration/usesclassicloadingmode
    @available(iOS 18.4, macOS 15.4, tvOS 18.4, visionOS 2.4, *)
    public var usesClassicLoadingMode: Bool { get {} set {} }
}

// developer.apple.com/documentation/foundation/urlsessiontask
open class URLSessionTask: NSObject, @unchecked Sendable {
    init(stub: Void) {}
    public var taskIdentifier: Int { get {} }
    public var originalRequest: URLRequest? { get {} }
    public var currentRequest: URLRequest? { get {} }
    public var response: URLResponse? { get {} }
    public var earliestBeginDate: Date?
    public var countOfBytesClientExpectsToSend: Int64
    public var countOfBytesClientExpectsToReceive: Int64
    public var countOfBytesReceived: Int64 { get {} }
    public var countOfBytesExpectedToReceive: Int64 { get {} }
    public var taskDescription: String?
    public var priority: Float
    public var progress: Progress { get {} }
    public func cancel() {}
    public func suspend() {}
    public func resume() {}
    public var state: State { get {} }
    public var error: (any Error)? { get {} }

    // developer.apple.com/documentation/foundation/urlsessiontask/state-swift.enum
    public enum State: Int, Sendable {
        case running = 0
        case suspended = 1
        case canceling = 2
        case completed = 3
    }
}

// developer.apple.com/documentation/foundation/urlsessiondatatask
open class URLSessionDataTask: URLSessionTask, @unchecked Sendable {}

// developer.apple.com/documentation/foundation/urlsessiondownloadtask
open class URLSessionDownloadTask: URLSessionTask, @unchecked Sendable {
    public func cancel(byProducingResumeData completionHandler: @escaping @Sendable (Data?) -> Void) {}
}

// developer.apple.com/documentation/foundation/nsurlsessiondownloadtaskresumedata
public let NSURLSessionDownloadTaskResumeData: String = ""

// developer.apple.com/documentation/foundation/urlsessiondelegate
public protocol URLSessionDelegate: NSObjectProtocol, Sendable {
    func urlSession(_ session: URLSession, didBecomeInvalidWithError error: (any Error)?)
    func urlSessionDidFinishEvents(forBackgroundURLSession session: URLSession)
}

extension URLSessionDelegate {
    public func urlSession(_ session: URLSession, didBecomeInvalidWithError error: (any Error)?) {}
    public func urlSessionDidFinishEvents(forBackgroundURLSession session: URLSession) {}
}

// developer.apple.com/documentation/foundation/urlsessiontaskdelegate
public protocol URLSessionTaskDelegate: URLSessionDelegate {
    func urlSession(_ session: URLSession, taskIsWaitingForConnectivity task: URLSessionTask)
    func urlSession(
        _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void)
    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?)
}

extension URLSessionTaskDelegate {
    public func urlSession(_ session: URLSession, taskIsWaitingForConnectivity task: URLSessionTask) {}
    public func urlSession(
        _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void) {}
    public func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {}
}

// developer.apple.com/documentation/foundation/urlsessiondatadelegate
public protocol URLSessionDataDelegate: URLSessionTaskDelegate {
    func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
        completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void)
    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data)
}

extension URLSessionDataDelegate {
    public func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
        completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void) {}
    public func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {}
}

// developer.apple.com/documentation/foundation/urlsessiondownloaddelegate
public protocol URLSessionDownloadDelegate: URLSessionTaskDelegate {
    func urlSession(_ session: URLSession, downloadTask: URLSessionDownloadTask, didFinishDownloadingTo location: URL)
    func urlSession(
        _ session: URLSession, downloadTask: URLSessionDownloadTask, didWriteData bytesWritten: Int64, totalBytesWritten: Int64,
        totalBytesExpectedToWrite: Int64)
    func urlSession(
        _ session: URLSession, downloadTask: URLSessionDownloadTask, didResumeAtOffset fileOffset: Int64, expectedTotalBytes: Int64)
}

extension URLSessionDownloadDelegate {
    public func urlSession(
        _ session: URLSession, downloadTask: URLSessionDownloadTask, didWriteData bytesWritten: Int64, totalBytesWritten: Int64,
        totalBytesExpectedToWrite: Int64) {}
    public func urlSession(
        _ session: URLSession, downloadTask: URLSessionDownloadTask, didResumeAtOffset fileOffset: Int64, expectedTotalBytes: Int64)
    {}
}
