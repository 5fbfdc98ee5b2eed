import AppleFoundation
import CoreImage

// github.com/ml-explore/mlx-swift-lm/blob/main/Libraries/MLXLMCommon/ModelContainer.swift
public final class ModelContainer: Sendable {
    init(stub: Void) {}
    public func prepare(input: consuming sending UserInput) async throws -> sending LMInput {}
    public func generate(
        input: consuming sending LMInput, parameters: GenerateParameters
    ) async throws -> AsyncStream<Generation> {}
}

// github.com/ml-explore/mlx-swift-lm/blob/main/Libraries/MLXLMCommon/Downloader.swift
public protocol Downloader: Sendable {
    func download(
        id: String, revision: String?, matching patterns: [String], useLatest: Bool,
        progressHandler: @Sendable @escaping (Progress) -> Void
    ) async throws -> URL
}

// github.com/ml-explore/mlx-swift-lm/blob/main/Libraries/MLXLMCommon/Tokenizer.swift
public protocol TokenizerLoader: Sendable {}

// github.com/ml-explore/mlx-swift-lm/blob/main/Libraries/MLXLMCommon/ModelFactory.swift
public func loadModelContainer(
    from downloader: any Downloader, using tokenizerLoader: any TokenizerLoader, id: String, revision: String = "main",
    useLatest: Bool = false, progressHandler: @Sendable @escaping (Progress) -> Void = { _ in }
) async throws -> sending ModelContainer {}

// github.com/ml-explore/mlx-swift-lm/blob/main/Libraries/MLXLMCommon/LanguageModel.swift
public struct LMInput {
    init(stub: Void) {}
}

// github.com/ml-explore/mlx-swift-lm/blob/main/Libraries/MLXLMCommon/UserInput.swift
public struct UserInput {
    public enum Image {
        case ciImage(CIImage)
        case url(URL)
    }
    public enum Video {
        case url(URL)
    }
    public struct Processing: Sendable {
        public init() {}
    }
    public typealias ToolSpec = [String: any Sendable]
    public init(
        chat: [Chat.Message], processing: Processing = .init(), tools: [ToolSpec]? = nil,
        additionalContext: [String: any Sendable]? = nil) {}
}

// github.com/ml-explore/mlx-swift-lm/blob/main/Libraries/MLXLMCommon/Chat.swift
public enum Chat {
    public struct Message {
        init(stub: Void) {}
        public static func system(
            _ content: String, images: [UserInput.Image] = [], videos: [UserInput.Video] = []) -> Self {}
        public static func assistant(
            _ content: String, images: [UserInput.Image] = [], videos: [UserInput.Video] = []) -> Self {}
        public static func user(
            _ content: String, images: [UserInput.Image] = [], videos: [UserInput.Video] = []) -> Self {}
    }
}
