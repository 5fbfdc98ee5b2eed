#if Llama
    import HearthBase
    import HearthInference

    /// A look at a file before llama.cpp gets it: a clear answer to the common mistakes, and fewer bytes from strangers for
    /// its loader.
    enum ModelFile {
        /// - Throws: `cannot-load-model` when there is no file, it is not GGUF, damaged, or shorter than its header says.
        static func check(_ path: Path, fileSystem: any FileSystem = LocalFileSystem()) throws {
            do {
                guard let status = try fileSystem.status(at: path, followLinks: true) else {
                    throw failure(path, "there is no such file", remedy: "Check the path.")
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
            } catch let error as GGUFError {
                throw failure(
                    path, error.message, expected: error.context.expected, found: error.context.found,
                    remedy: error.context.remedy ?? fetchAgain, underlying: error)
            } catch let error as FileError {
                throw failure(path, error.message, remedy: error.context.remedy ?? "Check the path.", underlying: error)
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
