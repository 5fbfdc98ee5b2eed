#if canImport(FoundationModels, _version: 2)
import CoreGraphics
import CoreImage
import Foundation
import FoundationModels
import HearthInference

@available(iOS 27.0, macOS 27.0, visionOS 27.0, *)
extension SessionRequest {
    /// Reads a session's request. Encodes its pictures, which takes time.
    /// - Throws: `RequestFailure.unsupportedGuide` for a schema that cannot be encoded.
    init(_ request: LanguageModelExecutorGenerationRequest) throws {
        self.init(request.transcript.map(TranscriptEntry.init))
        tools = try request.enabledToolDefinitions.map(ToolDefinition.init)
        schema = try request.schema.map(json)
        showsSchema = request.contextOptions.includeSchemaInPrompt ?? true
        let options = request.generationOptions
        temperature = options.temperature
        maximumTokens = options.maximumResponseTokens
        switch options.samplingMode?.kind {
        case .greedy: sampling = .greedy
        case .randomTopK(let count, let seed): sampling = .top(count, seed: seed)
        case .randomProbabilityThreshold(let part, let seed): sampling = .probability(part, seed: seed)
        case nil: break
        @unknown default: break
        }
        switch options.toolCallingMode?.kind {
        case .required: toolUse = .required
        case .disallowed: toolUse = .disallowed
        case .allowed, nil: break
        @unknown default: break
        }
        switch request.contextOptions.reasoningLevel {
        case .light: reasoning = .light
        case .moderate: reasoning = .moderate
        case .deep: reasoning = .deep
        case .custom(let word): reasoning = .custom(word)
        case nil: break
        @unknown default: break
        }
    }
}

@available(iOS 27.0, macOS 27.0, visionOS 27.0, *)
extension TranscriptEntry {
    init(_ entry: FoundationModels.Transcript.Entry) {
        let content: Content
        switch entry {
        case .instructions(let part):
            content = .instructions(
                part.segments.map(TranscriptSegment.init),
                // A tool that cannot be described is refused by the request.
                tools: part.toolDefinitions.compactMap { try? ToolDefinition($0) })
        case .prompt(let part):
            content = .prompt(part.segments.map(TranscriptSegment.init), schema: part.shownSchema)
        case .reasoning(let part): content = .reasoning(part.segments.map(TranscriptSegment.init))
        case .response(let part): content = .response(part.segments.map(TranscriptSegment.init))
        case .toolCalls(let calls):
            content = .toolCalls(
                calls.map { ToolCall(id: $0.id, name: $0.toolName, arguments: $0.arguments.jsonString) })
        case .toolOutput(let part):
            content = .toolOutput(part.segments.map(TranscriptSegment.init), call: part.id, tool: part.toolName)
        @unknown default: content = .other
        }
        self.init(content, id: entry.id)
    }
}

@available(iOS 27.0, macOS 27.0, visionOS 27.0, *)
extension FoundationModels.Transcript.Prompt {
    /// The schema that the model read with the question.
    fileprivate var shownSchema: String? {
        guard contextOptions.includeSchemaInPrompt ?? true, let responseFormat else { return nil }
        switch responseFormat.kind {
        // One that cannot be encoded now was refused when it was asked for.
        case .schema(let schema): return try? json(schema)
        @unknown default: return nil
        }
    }
}

@available(iOS 27.0, macOS 27.0, visionOS 27.0, *)
extension TranscriptSegment {
    init(_ segment: FoundationModels.Transcript.Segment) {
        switch segment {
        case .text(let text): self = .text(text.content)
        case .structure(let value): self = .structure(value.content.jsonString)
        case .attachment(let attachment):
            switch attachment.content {
            case .image(let image):
                self = image.jpeg.map { .picture($0, label: attachment.label) } ?? .unreadable
            @unknown default: self = .unreadable
            }
        @unknown default: self = .unreadable
        }
    }
}

@available(iOS 27.0, macOS 27.0, visionOS 27.0, *)
extension FoundationModels.Transcript.ImageAttachment {
    /// The upright picture as a JPEG file; `nil` if it cannot be drawn.
    fileprivate var jpeg: [UInt8]? {
        CIContext().jpegRepresentation(
            of: ciImage.oriented(orientation), colorSpace: CGColorSpaceCreateDeviceRGB()
        ).map { [UInt8]($0) }
    }
}

@available(iOS 27.0, macOS 27.0, visionOS 27.0, *)
extension ToolDefinition {
    fileprivate init(_ tool: FoundationModels.Transcript.ToolDefinition) throws {
        self.init(
            name: tool.name, description: tool.description,
            parameters: try AppleSchema.standard(try json(tool.parameters)))
    }
}

/// A schema in Apple's form.
@available(iOS 27.0, macOS 27.0, visionOS 27.0, *)
private func json(_ schema: GenerationSchema) throws -> String {
    String(decoding: try JSONEncoder().encode(schema), as: UTF8.self)
}
#endif
