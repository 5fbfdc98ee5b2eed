#if canImport(Darwin)
import Foundation
import HearthBase

/// The system's background session: it brings files while the app is suspended, or does not run.
final class SystemSession: NSObject, OutsideSession, URLSessionDownloadDelegate {
    private let landing: Landing
    private let report: @Sendable (PieceReport) -> Void
    /// One call of the delegate at a time, in their order.
    private let queue: OperationQueue
    private let session = Locked<URLSession?>(nil)

    /// Connects with the system's tasks of `identifier`: those that an earlier launch began go on.
    /// - Parameters:
    ///   - identifier: always the same, and used by one process at a time.
    ///   - allowsMetered: whether cellular networks and those in Low Data Mode may be used.
    ///   - container: the identifier of the container that the app shares with its extension.
    init(
        identifier: String, allowsMetered: Bool, container: String?, landing: Landing,
        report: @escaping @Sendable (PieceReport) -> Void
    ) {
        self.landing = landing
        self.report = report
        queue = OperationQueue()
        queue.maxConcurrentOperationCount = 1
        super.init()
        let configuration = URLSessionConfiguration.background(withIdentifier: identifier)
        configuration.isDiscretionary = false
        configuration.sessionSendsLaunchEvents = true
        configuration.allowsCellularAccess = allowsMetered
        configuration.allowsExpensiveNetworkAccess = allowsMetered
        configuration.allowsConstrainedNetworkAccess = allowsMetered
        configuration.sharedContainerIdentifier = container
        let made = URLSession(configuration: configuration, delegate: self, delegateQueue: queue)
        session.withLock { $0 = made }
    }

    func begin(_ order: PieceOrder, headers: [String: String], resumeData: Data?) {
        guard let session = session.withLock({ $0 }) else { return }
        if let resumeData {
            let task = session.downloadTask(withResumeData: resumeData)
            if task.originalRequest?.url == order.address { return start(task, order) }
            // Without a description, the end of this task is not reported.
            task.cancel()
        }
        var request = URLRequest(url: order.address)
        for (name, value) in headers { request.setValue(value, forHTTPHeaderField: name) }
        request.setValue("identity", forHTTPHeaderField: "Accept-Encoding")
        if let range = order.rangeField { request.setValue(range, forHTTPHeaderField: "Range") }
        start(session.downloadTask(with: request), order)
    }

    private func start(_ task: URLSessionDownloadTask, _ order: PieceOrder) {
        do {
            task.taskDescription = try order.description
        } catch {
            task.cancel()
            return report(.failed(order, .cannotKeep))
        }
        task.countOfBytesClientExpectsToReceive = Int64(clamping: order.range.count)
        task.resume()
    }

    func cancel(_ order: PieceOrder) {
        session.withLock { $0 }?.getAllTasks { tasks in
            for task in tasks where PieceOrder(description: task.taskDescription)?.id == order.id { task.cancel() }
        }
    }

    func list() {
        session.withLock { $0 }?.getAllTasks { [queue, report] tasks in
            // Ended tasks count until their end is reported.
            let orders = tasks.filter { $0.state != .canceling }.compactMap {
                PieceOrder(description: $0.taskDescription)
            }
            queue.addOperation { report(.tasks(orders)) }
        }
    }

    // MARK: - The delegate

    func urlSession(
        _ session: URLSession, downloadTask: URLSessionDownloadTask, didFinishDownloadingTo location: URL
    ) {
        guard let order = PieceOrder(description: downloadTask.taskDescription) else { return }
        let status = (downloadTask.response as? HTTPURLResponse)?.statusCode ?? 0
        report(landing.take(Path(location.path), of: order, status: status))
    }

    func urlSession(
        _ session: URLSession, downloadTask: URLSessionDownloadTask, didWriteData bytesWritten: Int64,
        totalBytesWritten: Int64, totalBytesExpectedToWrite: Int64
    ) {
        guard let order = PieceOrder(description: downloadTask.taskDescription) else { return }
        report(.progress(order, UInt64(clamping: totalBytesWritten)))
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        // The end of a task that brought its file was reported with the file.
        guard let error = error as NSError?, let order = PieceOrder(description: task.taskDescription) else { return }
        let data = error.userInfo[NSURLSessionDownloadTaskResumeData] as? Data
        report(.failed(order, PieceFailure(code: error.code, resumeData: data)))
    }

    func urlSessionDidFinishEvents(forBackgroundURLSession session: URLSession) { report(.delivered) }
}
#endif
