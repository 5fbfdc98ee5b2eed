import CVision
import Foundation
import HearthBase

/// OpenVINO, loaded at first use and never unloaded.
final class NetworkLibrary: @unchecked Sendable {
    /// Valid for the life of the process. OpenVINO's core may be used by several threads at once.
    let raw: OpaquePointer

    private static let loaded: Result<NetworkLibrary, ClassificationError> = Result { () throws(ClassificationError) in
        try NetworkLibrary(path: ProcessInfo.processInfo.environment["HEARTH_OPENVINO"])
    }

    /// The library of this machine: the file in `HEARTH_OPENVINO`, else the one that set-up brought, else the system's.
    /// Blocks for some milliseconds at the first use.
    /// - Throws: `vision-missing`.
    static func shared() throws(ClassificationError) -> NetworkLibrary { try loaded.get() }

    /// Loads a library (`hearth_openvino_load`).
    /// - Throws: `vision-missing`.
    init(path: String?) throws(ClassificationError) {
        do {
            raw = try VisionFailure.check { hearth_openvino_load(path, $0) }
        } catch {
            throw error.missing("OpenVINO")
        }
    }
}

/// The classifiers of this build.
package enum ClassifierSupport {
    /// Whether this build can classify: it has the trait `Vision` and OpenVINO's headers. The libraries may still be missing on
    /// the machine that it runs on.
    package static var isBuilt: Bool { hearth_vision_is_built() }

    /// What a confined process has to read to classify: the folders of OpenVINO and of the library of
    /// pictures. The system's own libraries come besides.
    package static var readable: [Path] {
        let own = Bundle.main.executablePath.map { Path($0).parent.parent.appending("lib").appending("hearth") }
        let built = hearth_vision_library().map { Path(String(cString: $0)).parent }
        return [own, built].compactMap(\.self)
    }
}
