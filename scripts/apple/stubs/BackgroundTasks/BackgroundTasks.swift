import AppleFoundation

// developer.apple.com/documentation/backgroundtasks/bgtask
@available(iOS 13.0, *)
open class BGTask: NSObject {
    init(stub: Void) {}
    public var identifier: String { get {} }
    public var expirationHandler: (() -> Void)?
    public func setTaskCompleted(success: Bool) {}
}

// developer.apple.com/documentation/backgroundtasks/bgcontinuedprocessingtask
@available(iOS 26.0, *)
public class BGContinuedProcessingTask: BGTask, ProgressReporting {
    public var title: String { get {} }
    public var subtitle: String { get {} }
    public var progress: Progress { get {} }
    public func updateTitle(_ title: String, subtitle: String) {}
}

// developer.apple.com/documentation/backgroundtasks/bgtaskrequest
@available(iOS 13.0, *)
open class BGTaskRequest: NSObject {
    init(stub: Void) {}
    public var identifier: String { get {} }
    public var earliestBeginDate: Date?
}

// developer.apple.com/documentation/backgroundtasks/bgcontinuedprocessingtaskrequest
@available(iOS 26.0, *)
public class BGContinuedProcessingTaskRequest: BGTaskRequest {
    public init(identifier: String, title: String, subtitle: String) {}
    public var title: String { get {} set {} }
    public var subtitle: String { get {} set {} }
    public var strategy: SubmissionStrategy { get {} set {} }

    // developer.apple.com/documentation/backgroundtasks/bgcontinuedprocessingtaskrequest/submissionstrategy
    public enum SubmissionStrategy: Int, Sendable {
        case fail
        case queue
    }
}

// developer.apple.com/documentation/backgroundtasks/bgtaskscheduler
@available(iOS 13.0, *)
open class BGTaskScheduler: NSObject, @unchecked Sendable {
    init(stub: Void) {}
    public class var shared: BGTaskScheduler { get {} }
    public func register(
        forTaskWithIdentifier identifier: String, using queue: DispatchQueue?, launchHandler: @escaping (BGTask) -> Void
    ) -> Bool {}
    public func submit(_ taskRequest: BGTaskRequest) throws {}
    public func cancel(taskRequestWithIdentifier identifier: String) {}
}
