import HearthBase
import HearthDelivery

/// What happens to a ``DownloadFlow``.
public enum DownloadFlowEvent: Sendable, Hashable {
    /// How a fetch ended.
    public enum Fetched: Sendable, Hashable {
        case completed
        case failed
        /// Somebody ended it elsewhere.
        case cancelled
        /// It was never begun, with a message for whoever was not told directly.
        case refused(String?)
    }

    /// How a load ended.
    public enum Loaded: Sendable, Hashable {
        case loaded
        case failed(String)
        case stopped
    }

    /// The user has chosen a model.
    case select(ModelInfo)
    /// The user wants the selected model, and a vision model after it.
    case start(then: ModelInfo?)
    /// A run's fetch has ended.
    case fetched(run: Int, Fetched)
    /// The user does not want the download any more.
    case cancel
    /// The user wants the selected model in memory.
    case load
    /// The load under way has ended.
    case loaded(Family, Loaded)
    /// The app has started, and these of the saved models are here: text, then vision.
    case launch([ModelInfo])
    /// The user wants the selected model off the device.
    case delete
    /// A removal has ended, with a message if it failed.
    case deleted(Family, String?)
    /// How things ended is of no interest any more.
    case reset
}

/// What a ``DownloadFlow`` wants done.
public enum DownloadFlowEffect: Sendable, Hashable {
    /// Why a request of the user's is not carried out.
    public enum Refusal: Sendable, Hashable {
        case downloadInProgress
        case nothingSelected
    }

    /// Pull it, then tell how it ended.
    case fetch(ModelInfo, run: Int)
    /// End its pull, and throw away what has come.
    case stop(ModelInfo)
    /// Load it, then tell how it ended.
    case load(ModelInfo)
    /// End its load.
    case stopLoading(ModelInfo)
    /// Take it out of memory and off the device, then tell how it ended.
    case delete(ModelInfo)
    /// Forget how its download ended.
    case forget(ModelInfo)
    /// Tell the user.
    case refuse(Refusal)
}
