import Foundation
import HearthBase
import HearthClassification

/// Compiled Core ML models. A model is compiled once on a device, and again if its compiled files are damaged.
///
/// ```
/// FOLDER/DIGEST/model.mlmodelc    the compiled model; DIGEST is that of the model's own bytes
/// FOLDER/DIGEST/files             the names and lengths of its files
/// FOLDER/.DIGEST.tmp-…            one that is being moved here
/// ```
/// The system compiles into its temporary files; the result is moved here and published by a rename. Two are kept: the model
/// in use, and the one before it, to which a rollback returns.
actor CompiledModels {
    private let folder: Path
    private let compiler: any PictureModelCompiler
    private let fileSystem: any FileSystem
    /// The loads under way, by digest.
    private var loads: [SHA256Digest: Task<any PictureModel, any Error>] = [:]
    private static let keptCount = 2

    init(folder: Path, compiler: any PictureModelCompiler, fileSystem: any FileSystem = LocalFileSystem()) {
        (self.folder, self.compiler, self.fileSystem) = (folder, compiler, fileSystem)
    }

    /// Loads a model, and compiles it first if it was not compiled on this device. Loads of one model at the same time are
    /// one.
    /// - Throws: ``ClassificationError`` with `classifier-unreadable`, `classifier-not-ready`; `FileError`;
    ///   `CancellationError`.
    func load(_ model: Path) async throws -> any PictureModel {
        // The result of Xcode is a folder that the system loads as it is.
        if model.fileExtension == "mlmodelc" { return try await loaded(model, name: model.lastComponent) }
        let digest = try await unlocked { [fileSystem] in
            try await StopFlag.blocking { try ModelDigest(fileSystem: fileSystem).digest(of: model, $0) }
        }
        let task: Task<any PictureModel, any Error>
        if let present = loads[digest] {
            task = present
        } else {
            task = Task { try await self.ready(model, digest) }
            loads[digest] = task
        }
        // Others may wait for the same model, so a cancelled caller leaves alone.
        return try await abandonable { try await task.value }
    }

    private func ready(_ model: Path, _ digest: SHA256Digest) async throws -> any PictureModel {
        defer { loads[digest] = nil }
        let (entry, name) = (folder.joined(digest.hex), model.lastComponent)
        let compiled = entry.appending("model.mlmodelc")
        if try await unlocked({ try await self.isIntact(entry) }) {
            do {
                let loaded = try await compiler.load(compiled)
                await touch(entry)
                return loaded
            } catch let error {
                try await unlocked { try await self.checkReadable(compiled) }
                Log.write(.warning, "a compiled model is compiled again, because it cannot be loaded", [.error(error)])
            }
        }
        let made: Path
        do {
            made = try await compiler.compile(model)
        } catch {
            throw Self.unreadable(name, "cannot be compiled", error)
        }
        try await unlocked { try await self.publish(made, as: entry) }
        let loaded = try await loaded(compiled, name: name)
        await removeOld(except: entry)
        return loaded
    }

    private func loaded(_ compiled: Path, name: String) async throws -> any PictureModel {
        do {
            return try await compiler.load(compiled)
        } catch {
            throw Self.unreadable(name, "cannot be loaded", error)
        }
    }

    // MARK: - Files

    private func isIntact(_ entry: Path) async throws -> Bool {
        try await blocking { [fileSystem] in
            let digests = ModelDigest(fileSystem: fileSystem)
            guard try fileSystem.status(at: entry) != nil else { return false }
            do {
                let files = try fileSystem.contents(ofFile: entry.appending("files"), limit: 1 << 20)
                return files == Data(try digests.listing(of: entry.appending("model.mlmodelc")).utf8)
            } catch let error as FileError where error.code != .permissionDenied {
                return false
            }
        }
    }

    /// Finds out whether the files of a model can be read at all.
    private func checkReadable(_ compiled: Path) async throws {
        try await blocking { [fileSystem] in
            for name in try fileSystem.files(below: compiled) { _ = try fileSystem.open(compiled.joined(name), .read) }
        }
    }

    private func publish(_ made: Path, as entry: Path) async throws {
        try await blocking { [fileSystem, folder] in
            try fileSystem.makeFolders(folder, permissions: 0o700)
            let staged = folder.appendingTemporary(besides: entry.lastComponent)
            do {
                try fileSystem.makeFolder(staged, permissions: 0o700)
                let target = staged.appending("model.mlmodelc")
                do {
                    try fileSystem.rename(made, to: target)
                } catch let error as FileError where error.isSystemError(EXDEV) {
                    try FileManager.default.moveItem(at: made.url, to: target.url)
                }
                let listing = try ModelDigest(fileSystem: fileSystem).listing(of: target)
                try fileSystem.replaceContents(of: staged.appending("files"), with: Data(listing.utf8))
                try fileSystem.removeTree(entry)
                try fileSystem.rename(staged, to: entry)
                try fileSystem.synchronizeFolder(folder)
            } catch {
                // The first error tells more.
                try? fileSystem.removeTree(staged)
                throw error
            }
        }
    }

    /// Marks a model as used last.
    private func touch(_ entry: Path) async {
        await blocking {
            do {
                try FileManager.default.setAttributes([.modificationDate: Date()], ofItemAtPath: entry.string)
            } catch {
                Log.write(.debug, "the time of a compiled model is not written", [.error(error)])
            }
        }
    }

    /// Removes all but the models that were used last, and what an ended process left behind.
    private func removeOld(except entry: Path) async {
        await blocking { [fileSystem, folder] in
            do {
                let entries = try fileSystem.contents(of: folder).map { folder.joined($0) }
                let dated = try entries.map { ($0, try fileSystem.status(at: $0)?.modified ?? .distantPast) }
                let old = dated.filter { $0.0 != entry && !$0.0.lastComponent.hasPrefix(".") }.sorted { $0.1 > $1.1 }
                let left = dated.filter {
                    $0.0.lastComponent.hasPrefix(".") && $0.0.lastComponent.contains(Path.temporaryMark)
                        && -$0.1.timeIntervalSinceNow > 86_400
                }
                for (path, _) in old.dropFirst(Self.keptCount - 1) + left { try fileSystem.removeTree(path) }
            } catch {
                Log.write(.warning, "old compiled models cannot be removed", [.error(error)])
            }
        }
    }

    // MARK: - Errors

    /// Before a device is unlocked for the first time, its files exist and cannot be read: nothing is damaged then.
    private func unlocked<Result: Sendable>(
        _ body: @Sendable () async throws -> Result
    ) async throws -> Result {
        do {
            return try await body()
        } catch let error as FileError where error.code == .permissionDenied {
            throw ClassificationError(
                .notReady, "the classifier cannot be read while this device is locked",
                context: ErrorContext(remedy: "Unlock the device once."), disposition: .tryLater, underlying: error)
        }
    }

    private static func unreadable(_ name: String, _ reason: String, _ error: any Error) -> any Error {
        if error is CancellationError { return error }
        return ClassificationError(
            .unreadableModel, "\(name) \(reason)",
            context: ErrorContext(file: name, remedy: "Fetch the model again, or use another one."), underlying: error)
    }
}
