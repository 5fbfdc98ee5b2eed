import Foundation
import HearthBase
import HearthDelivery

#if canImport(CoreML)
    import CoreML
#endif

/// Compiles Core ML models on the device that is going to run them: of a `.mlpackage` or `.mlmodel` a `.mlmodelc`.
///
/// Once for each release and each version of the system: what one system has compiled may not suit the next.
public struct CoreMLPreparer: ReleasePreparer {
    /// Compiles the model at an address. What it returns is a folder in a place for temporary things, left to the caller.
    public typealias Compiler = @Sendable (URL) async throws -> URL

    private let system: String
    private let compile: Compiler

    /// A preparer with a compiler of the caller's.
    /// - Parameter system: the version and build of the system, with which everything is compiled anew.
    public init(
        system: String = ProcessInfo.processInfo.operatingSystemVersionString, compile: @escaping Compiler
    ) {
        self.system = system
        self.compile = compile
    }

    #if canImport(CoreML)
        /// A preparer with the system's compiler.
        public init() {
            self.init { try await MLModel.compileModel(at: $0) }
        }
    #endif

    public func recipe(for release: InstalledRelease) async throws -> PreparationRecipe? {
        CoreMLPackage(release)?.recipe(on: system)
    }

    /// Compiles, and moves what came of it. Core ML cannot be stopped while it compiles: a task that is cancelled ends after
    /// that, and nothing stays.
    /// - Throws: what Core ML says, `FileError`, `CancellationError`, or what the system says of the move.
    public func build(
        _ recipe: PreparationRecipe, of release: InstalledRelease, at target: Path,
        progress: @escaping @Sendable (Double) -> Void
    ) async throws {
        guard let package = CoreMLPackage(release) else {
            throw FileError(errno: ENOENT, doing: "compile", path: release.folder)
        }
        try Task.checkCancellation()
        progress(0)
        let compiled = try await compile(package.path.url)
        do {
            try Task.checkCancellation()
            // It may lie on another volume: then this copies.
            try await blocking { try FileManager.default.moveItem(at: compiled, to: target.url) }
        } catch {
            await discard(compiled)
            throw error
        }
        progress(1)
    }

    private func discard(_ compiled: URL) async {
        do {
            try await blocking { try FileManager.default.removeItem(at: compiled) }
        } catch {
            Log.write(.info, "coreml", "\(compiled.path) stays with the system's temporary files: \(error)")
        }
    }
}
