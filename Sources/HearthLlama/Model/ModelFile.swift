#if Llama
    import HearthBase
    import HearthInference

    /// A look at a file before llama.cpp gets it: a clear answer to the common mistakes, and fewer bytes from strangers for
    /// its loader.
    enum ModelFile {
        /// What a file is to be.
        enum Use: Sendable {
            case model, projector
        }

        /// - Parameter use: what the file is for; `nil` for anything.
        /// - Throws: `cannot-load-model` when there is no file, it is not GGUF, damaged, shorter than its header says, or for
        ///   something else; for a split model also when that is so of another part, or it is not the first one.
        static func check(_ path: Path, as use: Use?, fileSystem: any FileSystem = LocalFileSystem()) throws {
            let header = try header(of: path, fileSystem)
            try checkParts(header, path, fileSystem)
            switch use {
            case .model: try checkModel(header, path)
            case .projector: try checkProjector(header, path)
            case nil: break
            }
        }

        /// Looks at all files of a split model, which llama.cpp looks for by their names.
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

        /// Reads the header of one file, which has to be as long as that says.
        /// - Parameter remedy: what helps where there is no such file.
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

        /// Refuses what llama.cpp is sure to refuse: it would, only after the present model was unloaded.
        private static func checkModel(_ header: GGUFHeader, _ path: Path) throws(LLMError) {
            let remedy = "Give the path of the model's own .gguf file."
            if header.architecture == "clip" {
                throw failure(
                    path, "it is a projector, which makes pictures readable for a model", found: "clip", remedy: remedy)
            }
            if header.metadata["general.type"]?.text == "adapter" {
                throw failure(path, "it is an adapter, which changes a model", found: "adapter", remedy: remedy)
            }
            guard header.architecture != nil else {
                throw failure(path, "its header names no architecture", remedy: remedy)
            }
        }

        /// Asks what llama.cpp asks of a projector for pictures, which is not its architecture (`clip_model_loader`).
        private static func checkProjector(_ header: GGUFHeader, _ path: Path) throws(LLMError) {
            guard case .bool(true) = header.metadata["clip.has_vision_encoder"] else {
                throw failure(
                    path, "it is no projector for pictures", found: header.architecture,
                    remedy: "Give the mmproj file that was made for the model.")
            }
        }

        private static let fetchAgain = "Give the path of a whole .gguf file, or fetch it again."

        private static func failure(
            _ path: Path, _ reason: String, expected: String? = nil, found: String? = nil, remedy: String,
            underlying: (any Error)? = nil
        ) -> LLMError {
            LLMError(
                .cannotLoad, "cannot load \(path.lastComponent): \(reason)",
                context: ErrorContext(file: path.string, expected: expected, found: found, remedy: remedy),
                underlying: underlying)
        }
    }
#endif
