import CVision
import Foundation
import HearthBase

/// The library of pictures, loaded at first use and never unloaded.
final class PictureLibrary: @unchecked Sendable {
    /// Valid for the life of the process. The functions keep no state, so any thread may call them.
    let functions: hearth_pictures

    private static let loaded: Result<PictureLibrary, ClassificationError> = Result { () throws(ClassificationError) in
        try PictureLibrary(path: ProcessInfo.processInfo.environment["HEARTH_PICTURES"])
    }

    /// The library of this machine: the file in `HEARTH_PICTURES`, else the one that set-up built. Blocks for some tens of
    /// milliseconds at the first use.
    /// - Throws: `vision-missing`.
    static func shared() throws(ClassificationError) -> PictureLibrary { try loaded.get() }

    /// Loads a library (`hearth_pictures_load`).
    /// - Throws: `vision-missing`.
    init(path: String?) throws(ClassificationError) {
        do {
            functions = try VisionFailure.check { hearth_pictures_load(path, $0) }.pointee
        } catch {
            throw error.missing("the library of pictures (OpenCV)")
        }
    }
}
