import Foundation

/// A report of the service that brings pieces.
package enum PieceReport: Sendable, Equatable {
    /// So many bytes of a piece have arrived.
    case progress(PieceOrder, UInt64)
    /// A piece has arrived and lies in its transfer's folder, with these bytes of the file: the ordered ones, or all.
    case landed(PieceOrder, Range<UInt64>)
    case failed(PieceOrder, PieceFailure)
    /// The orders of the tasks that have not ended, in reply to the question for them.
    case tasks([PieceOrder])
    /// Everything that happened while the app did not run is reported.
    case delivered
}

/// The reason why a task ended without its bytes.
package enum PieceFailure: Sendable, Hashable {
    /// The network or the system ended it: force-quit, no Wi-Fi. With resume data, a later task continues after the
    /// bytes that the system has.
    case interrupted(resumeData: Data?)
    /// The system cannot continue with the resume data.
    case cannotResume
    /// The server refused.
    case refused(status: Int)
    /// Bytes of another length came, or their file has vanished.
    case wrongBytes
    /// The file could not be moved: a full disk, or one that is still locked after a restart.
    case cannotKeep

    /// The failure of a task.
    /// - Parameter code: the code of the error in `NSURLErrorDomain`.
    package init(code: Int, resumeData: Data?) {
        self =
            switch code {
            case -3007 ... -3006: .cannotResume  // the codes of a download that cannot be decoded
            case -3005 ... -3000: .cannotKeep  // the codes of a file that cannot be made, written or moved
            default: .interrupted(resumeData: resumeData)
            }
    }
}
