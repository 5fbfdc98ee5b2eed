import HearthBase
import HearthInference

/// Checks a file before llama.cpp reads it. Common mistakes get a clear error, and llama.cpp's loader reads fewer
/// untrusted bytes.
enum ModelFile {
    /// The intended use of a file.
    enum Use: Sendable {
        case model, projector
    }

    /// Checks a file.
    /// - Parameter use: the intended use; `nil` for any.
    /// - Throws: `cannot-load-model` when the file is missing, is not GGUF, is damaged, is shorter than its header
    ///   says, or has another use. For a split model also when this is true of another part, or when the file is
    ///   not the first part.
    static func check(_ path: Path, as use: Use?, fileSystem: any FileSystem = LocalFileSystem()) throws {
        let header = try header(of: path, fileSystem)
        try checkParts(header, path, fileSystem)
        switch use {
        case .model: try checkModel(header, path)
        case .projector: try checkProjector(header, path)
        case nil: break
        }
    }

    /// Checks all files of a split model, which llama.cpp finds by their names.
    private static func checkParts(_ header: GGUFHeader, _ path: Path, _ fileSystem: any FileSystem) throws {
        guard header.splitCount > 1, header.splitCount <= ShardName.maximumCount else { return }
        guard let parts = header.parts(at: path) else {
            throw failure(
                path, "it is part \(header.splitIndex &+ 1) of \(header.splitCount)",
                expected: "…\(ShardName.suffix(1, of: header.splitCount)).gguf", found: path.lastComponent,
                remedy: "Give the path of the first part, under the name that llama-gguf-split gave it.")
        }
        for (index, part) in parts.enumerated().dropFirst() {
            let other = try self.header(
                of: part, fileSystem, remedy: "Put all \(parts.count) parts of the model into one folder.")
            guard other.splitIndex == index, other.splitCount == parts.count else {
                throw failure(
                    part, "it is part \(other.splitIndex &+ 1) of \(other.splitCount)",
                    expected: "part \(index + 1) of \(parts.count)",
                    remedy: "Put the parts of one model into a folder.")
            }
        }
    }

    /// Reads the header of one file and checks the file's length against it.
    /// - Parameter remedy: the remedy in the error if the file is missing.
    private static func header(
        of path: Path, _ fileSystem: any FileSystem, remedy: String = "Check the path."
    ) throws -> GGUFHeader {
        do {
            guard let status = try fileSystem.status(at: path, followLinks: true) else {
                throw failure(path, "there is no such file", remedy: remedy)
            }
            guard status.kind == .file else {
                throw failure(path, "it is not a file", remedy: "Give the path of a .gguf file.")
            }
            guard status.size > 0 else { throw failure(path, "it is empty", remedy: fetchAgain) }
            let header = try GGUFHeader(file: path, fileSystem: fileSystem)
            if let needed = header.tensors?.minimumFileSize, status.size < needed {
                throw failure(
                    path, "it ends after \(status.size) of at least \(needed) bytes",
                    expected: "at least \(needed) bytes", found: "\(status.size) bytes", remedy: fetchAgain)
            }
            return header
        } catch let error as GGUFError {
            throw failure(
                path, error.message, expected: error.context.expected, found: error.context.found,
                remedy: error.context.remedy ?? fetchAgain, underlying: error)
        } catch let error as FileError {
            throw failure(path, error.message, remedy: error.context.remedy ?? "Check the path.", underlying: error)
        }
    }

    /// Refuses files that llama.cpp would refuse only after the present model is unloaded.
    private static func checkModel(_ header: GGUFHeader, _ path: Path) throws(LLMError) {
        let remedy = "Give the path of the model's own .gguf file."
        if header.architecture == "clip" {
            throw failure(
                path, "it is a projector, which makes pictures readable for a model", found: "clip", remedy: remedy)
        }
        if header.metadata["general.type"]?.text == "adapter" {
            throw failure(path, "it is an adapter, which changes a model", found: "adapter", remedy: remedy)
        }
        if header.metadata["general.type"]?.text == "imatrix" {
            throw failure(
                path, "it is an importance matrix, which serves the making of models", found: "imatrix", remedy: remedy)
        }
        if header.architecture == "controlvector" {
            throw failure(path, "it is a control vector, which changes a model", found: "controlvector", remedy: remedy)
        }
        guard header.architecture != nil else {
            throw failure(path, "its header names no architecture", remedy: remedy)
        }
    }

    /// Makes llama.cpp's checks of a projector, which do not use its architecture (`clip_model_loader`).
    private static func checkProjector(_ header: GGUFHeader, _ path: Path) throws(LLMError) {
        guard case .bool(true) = header.metadata["clip.has_vision_encoder"] else {
            throw failure(
                path, "it is no projector for pictures", found: header.architecture,
                remedy: "Give the mmproj file that was made for the model.")
        }
    }

    private static let fetchAgain = "Give the path of a whole .gguf file, or fetch it again."

    static func failure(
        _ path: Path, _ reason: String, expected: String? = nil, found: String? = nil,
        remedy: String = "Verify the file, or fetch it again; if it is whole, choose a smaller context or model.",
        underlying: (any Error)? = nil
    ) -> LLMError {
        LLMError(
            .cannotLoad, "cannot load \(path.lastComponent): \(reason)",
            context: ErrorContext(file: path.string, expected: expected, found: found, remedy: remedy),
            underlying: underlying)
    }
}
