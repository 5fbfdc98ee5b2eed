import HearthBase
import HearthCatalog
import HearthDelivery

/// Events that a ``DownloadFlow`` takes.
package enum DownloadFlowEvent: Sendable, Hashable {
    /// How a fetch ended.
    package enum Fetched: Sendable, Hashable {
        case completed
        case failed
        /// Cancelled outside this flow.
        case cancelled
        /// Not started; the message is for a user who was not told directly.
        case refused(String?)
    }

    /// How a load ended.
    package enum Loaded: Sendable, Hashable {
        case loaded
        case failed(String)
        case stopped
    }

    /// The user selects a model.
    case select(ModelInfo)
    /// The user downloads the selected model, followed by a vision model.
    case start(then: ModelInfo?)
    /// A download that an ended process left continues.
    case restored(ModelInfo)
    /// The fetch of a run ended.
    case fetched(run: Int, Fetched)
    /// The user cancels the download.
    case cancel
    /// The user loads the selected model.
    case load
    /// A model's load ended.
    case loaded(Family, Loaded)
    /// The app has started. The saved models that are on this device: text, then vision.
    case launch([ModelInfo])
    /// The user deletes the selected model.
    case delete
    /// A removal ended, with a message if it failed.
    case deleted(Family, String?)
    /// Clear the results of earlier work.
    case reset
}

/// Actions that a ``DownloadFlow`` asks its owner to carry out, on the model named.
package enum DownloadFlowEffect: Sendable, Hashable {
    /// Why a request by the user is refused.
    package enum Refusal: Sendable, Hashable {
        case downloadInProgress
        case nothingSelected
    }

    /// Pull the model, then report how the pull ended.
    case fetch(ModelInfo, run: Int)
    /// Cancel the pull and delete its partial download.
    case stop(ModelInfo)
    /// Load the model, then report how the load ended.
    case load(ModelInfo)
    /// The same if it fits beside the models in memory.
    case loadBeside(ModelInfo)
    /// Cancel the load.
    case stopLoading(ModelInfo)
    /// Unload the model, delete it from the device, then report how that ended.
    case delete(ModelInfo)
    /// Clear the result of the model's download.
    case forget(ModelInfo)
    /// Tell the user that a request is refused.
    case refuse(Refusal)
}
